/**
 * Writes the URL of every module that a program imports, one per line, to the file in LOADED_TO.
 */

import { appendFileSync } from "node:fs";
import { register } from "node:module";

// Loaded a second time, as hooks, in Node's own thread for hooks.
if (!globalThis.verbatimLoads) {
  globalThis.verbatimLoads = true;
  register(import.meta.url);
}

export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_TO ?? "/dev/null", `${url}\n`);
  return next(url, context);
}
