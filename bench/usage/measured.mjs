/**
 * Runs a program, and prints the processor time and peak memory that it and its children took. From
 * /proc, because the program may be no Node: times are in hundredths of a second, and the memory is
 * the largest that was seen every few milliseconds.
 */

import { spawn } from "node:child_process";
import { readFileSync, writeSync } from "node:fs";

const [, , program = "", ...args] = process.argv;
const started = performance.now();
const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });
let mb = 0;
const timer = setInterval(() => {
  try {
    const [, kb] =
      /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
    mb = Math.max(mb, Number(kb ?? 0) / 1024);
  } catch {
    // It has ended.
  }
}, 5);
child.on("close", (code) => {
  clearInterval(timer);
  const wallMs = performance.now() - started;
  // The 14th field after the name is the user time of children that have ended, then the system's.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  const cpuMs = (Number(fields[13]) + Number(fields[14])) * 10;
  writeSync(3, JSON.stringify({ cpuMs, wallMs, mb }));
  process.exitCode = code ?? 1;
});
