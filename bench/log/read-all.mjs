/**
 * Reads a log as a stream and prints this process's peak memory in MB. Plain JavaScript in its own
 * process, so that only the reader is counted.
 *
 * On Linux `resourceUsage().maxRSS` is wrong: it begins with the size of the parent process (kernel 6,
 * Node 20). The kernel's own peak for this program does not.
 */

import { existsSync, readFileSync } from "node:fs";

const [builtLog, path] = process.argv.slice(2);
const { readLog } = await import(builtLog);

let lines = 0;
for await (const line of readLog(path)) if (line.value !== undefined) lines++;
if (lines === 0) throw new Error("no line was read");

const STATUS = "/proc/self/status";
const kilobytes = existsSync(STATUS)
  ? Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(STATUS, "utf8"))?.[1])
  : process.resourceUsage().maxRSS;
process.stdout.write(String(kilobytes / 1024));
