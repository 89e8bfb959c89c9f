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
 * @param {(out: string) => string | null} [options.reply] more input, as soon as its output says so
 * @param {boolean} [options.mayFail]
 */
export async function run(command, args, { cwd, env, input, reply, mayFail = false }) {
  const stdin = input === undefined ? "ignore" : "pipe";
  const child = spawn(command, args, { cwd, env, stdio: [stdin, "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), SECONDS_MAX * 1000);
  const written = { out: "", all: "" };
  let isReplied = reply === undefined;
  child.stdout?.on("data", (data) => {
    written.out += data;
    written.all += data;
    const more = isReplied ? null : reply?.(written.out);
    if (!more) return;
    isReplied = true;
    child.stdin?.end(more);
  });
  child.stderr?.on("data", (data) => {
    written.all += data;
  });
  if (isReplied) child.stdin?.end(input);
  else child.stdin?.write(input ?? "");
  const code = await new Promise((ended) => child.on("close", ended));
  clearTimeout(timer);
  if (code !== 0 && !mayFail)
    throw new Error(`${command} ${args.join(" ")} failed:\n${written.all}`);
  return written.out;
}
