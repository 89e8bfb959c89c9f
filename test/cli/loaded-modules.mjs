/**
 * Writes every module that a program loads, one per line, to the file in LOADED_TO: the URLs of those
 * that it imports, the paths of those that it requires, and Node's own ("NativeModule crypto").
 */

import { appendFileSync } from "node:fs";
import { createRequire, register } from "node:module";

const to = process.env.LOADED_TO ?? "/dev/null";

// Loaded a second time, as hooks, in Node's own thread for hooks.
if (!globalThis.verbatimLoads) {
  globalThis.verbatimLoads = true;
  register(import.meta.url);
  const { cache } = createRequire(import.meta.url);
  const before = new Set(process.moduleLoadList);
  process.on("exit", () => {
    const own = process.moduleLoadList.filter((each) => !before.has(each));
    appendFileSync(to, `${[...Object.keys(cache), ...own].join("\n")}\n`);
  });
}

export async function load(url, context, next) {
  appendFileSync(to, `${url}\n`);
  return next(url, context);
}
