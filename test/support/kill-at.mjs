/**
 * Kill at: ends its process with SIGKILL before the KILL_AT-th call that changes the disk. Loaded with
 * `node --import`. Without KILL_AT it prints at the end how many such calls there were.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const NAMES = ["mkdirSync", "writeSync", "writevSync", "fsyncSync", "fdatasyncSync", "unlinkSync"];
const MORE = ["renameSync", "linkSync", "ftruncateSync", "write", "writev", "fsync", "fdatasync"];
const killAt = Number(process.env.KILL_AT ?? 0);
let calls = 0;

function count() {
  if (++calls === killAt) process.kill(process.pid, "SIGKILL");
}

for (const name of [...NAMES, ...MORE]) {
  const real = fs[name];
  fs[name] = (...args) => {
    count();
    return real(...args);
  };
}
const { openSync } = fs;
fs.openSync = (path, flags, mode) => {
  if (typeof flags === "number" && flags & fs.constants.O_CREAT) count();
  return openSync(path, flags, mode);
};
syncBuiltinESMExports();
if (killAt === 0) process.on("exit", () => openSync && process.stderr.write(`calls ${calls}\n`));
