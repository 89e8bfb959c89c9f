/**
 * Command server: a process that loads the command line once and runs commands one after another,
 * each from its entry point, as if the process were its own: arguments, directory, environment,
 * streams, listeners and exit code are new each time (command-servers.ts).
 *
 * A command is over when nothing is left that would keep a process of its own alive. One that ends
 * the process ends this one, and what it printed is then on the real stdout and stderr.
 *
 *     node command-server.mjs <main.js>
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/**
 * @typedef {{ args: string[], cwd: string, env: Record<string, string>, input: Uint8Array }} Asked
 */

const [, , main = ""] = process.argv;
const require = createRequire(import.meta.url);
/** The built command's entry point, which its loader begins with. */
const script = join(dirname(main), "entry.js");
const isBuilt = existsSync(script);
let commands = 0;

/** Runs the command from its entry point; everything else stays loaded. */
async function runMain() {
  delete require.cache[script];
  const url = `${pathToFileURL(main)}?command=${commands++}`;
  const { completion } = isBuilt ? require(script) : await import(url);
  assert.ok(completion instanceof Promise); // Without it, this would still work, but wait busily.
  await completion;
}

class Printed extends Writable {
  /** @type {Buffer[]} */
  chunks = [];

  /**
   * @param {Buffer} chunk
   * @param {string} _
   * @param {() => void} done
   */
  _write(chunk, _, done) {
    this.chunks.push(Buffer.from(chunk)); // The caller may use its memory again.
    done();
  }
}

let [out, err] = [new Printed(), new Printed()];
const [realOut, realErr] = [process.stdout.fd, process.stderr.fd];

process.on("disconnect", () => process.exit());
process.on("exit", () => {
  for (const chunk of out.chunks) writeSync(realOut, chunk);
  for (const chunk of err.chunks) writeSync(realErr, chunk);
});
process.on("message", (/** @type {Asked} */ asked) => void run(asked));

/** @param {Asked} asked */
async function run({ args, cwd, env, input }) {
  const resources = await activeResources();
  const [listeners, files] = [allListeners(), openFiles()];
  [out, err] = [new Printed(), new Printed()];
  const streams = {
    stdin: Readable.from([input], { objectMode: false }),
    stdout: out,
    stderr: err,
  };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  }
  process.argv = [process.execPath, main, ...args];
  process.exitCode = undefined;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);

  await runMain();
  while ((await activeResources()) > resources) await setTimeout(1);
  for (const [event, before] of listeners) {
    for (const listener of process.rawListeners(event)) {
      if (!before.has(listener)) process.off(event, /** @type {() => void} */ (listener));
    }
  }
  process.chdir("/");
  const ran = {
    code: process.exitCode ?? 0,
    stdout: Buffer.concat(out.chunks.splice(0)),
    stderr: Buffer.concat(err.chunks.splice(0)),
    isClean: openFiles() <= files,
  };
  process.send?.(ran);
}

/** How many things are under way that keep a process alive. */
async function activeResources() {
  await setImmediate();
  return process.getActiveResourcesInfo().length;
}

function allListeners() {
  const events = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "warning"];
  events.push("uncaughtException", "unhandledRejection", ...process.eventNames().map(String));
  return new Map(events.map((event) => [event, new Set(process.rawListeners(event))]));
}

/** How many files are open: the end of a process of its own would close what a command left. */
function openFiles() {
  const paths = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The listing's own.
    }
  });
  return paths.filter((path) => path.startsWith("/") && !path.startsWith("/dev/")).length;
}
