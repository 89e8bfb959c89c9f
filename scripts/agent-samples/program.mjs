/** Program: runs one to its end. */

import { spawn } from "node:child_process";

const SECONDS_MAX = 120;

/**
 * The standard output of a program; throws with all that it wrote if it fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {object} options
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string} [options.input] on its standard input
 * @param {boolean} [options.mayFail]
 */
export async function run(command, args, { cwd, env, input, mayFail = false }) {
  const stdin = input === undefined ? "ignore" : "pipe";
  const child = spawn(command, args, { cwd, env, stdio: [stdin, "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), SECONDS_MAX * 1000);
  const written = { out: "", all: "" };
  child.stdout?.on("data", (data) => {
    written.out += data;
    written.all += data;
  });
  child.stderr?.on("data", (data) => {
    written.all += data;
  });
  child.stdin?.end(input);
  const code = await new Promise((ended) => child.on("close", ended));
  clearTimeout(timer);
  if (code !== 0 && !mayFail)
    throw new Error(`${command} ${args.join(" ")} failed:\n${written.all}`);
  return written.out;
}
