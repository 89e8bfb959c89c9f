/** Runs a module as `node <module> …` would, and prints the processor time and memory it took. */

import { writeSync } from "node:fs";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, mb: maxRSS / 1024 }));
});
const [, , module, ...args] = process.argv;
if (module) {
  process.argv = [process.argv[0] ?? "", module, ...args];
  await import(module);
}
