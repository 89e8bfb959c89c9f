/** Notes every module that a program imports, a URL a line, in the file that LOADED_TO names. */

import { appendFileSync } from "node:fs";
import { register } from "node:module";

// Loaded a second time, as hooks, in the thread that Node runs those in.
if (!globalThis.verbatimLoads) {
  globalThis.verbatimLoads = true;
  register(import.meta.url);
}

export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_TO ?? "/dev/null", `${url}\n`);
  return next(url, context);
}
