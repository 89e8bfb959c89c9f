/**
 * Runs a module in this process, as `node <module> …` would, and prints the processor time it took.
 */

import { writeSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, String((user + system) / 1000));
});
const [, , module, ...args] = process.argv;
if (module) {
  process.argv = [process.argv[0] ?? "", module, ...args];
  await import(module);
}
