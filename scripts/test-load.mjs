/**
 * `npm run test:load`: the tests on two cores that have too much to do: next to four busy loops and
 * a process that writes to the disk and syncs. A test that depends on the speed of the machine
 * fails here. `npm run test:load -- --one-core` runs them alone, on one core.
 *
 * What follows is passed on to the tests. Cores are chosen with taskset (util-linux).
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, root, run } from "./setup.mjs";

const BUSY = "for (;;);";
const SYNCING = `
  const { fsyncSync, ftruncateSync, openSync, writeSync } = require("node:fs");
  const fd = openSync(process.argv[1], "w");
  const block = Buffer.alloc(1 << 20, "x");
  for (let n = 0; ; n++) {
    if (n % 64 === 0) ftruncateSync(fd, 0);
    writeSync(fd, block, 0, block.length, (n % 64) * block.length);
    fsyncSync(fd);
  }`;

await main(async () => {
  const [first, ...others] = process.argv.slice(2);
  const isOneCore = first === "--one-core";
  const args = isOneCore || first === undefined ? others : [first, ...others];
  const cores = isOneCore ? "0" : "0,1";
  const folder = mkdtempSync(join(tmpdir(), "verbatim-load-"));
  const loads = isOneCore
    ? []
    : [...Array(4).fill([BUSY]), [SYNCING, join(folder, "synced")]].map((program) =>
        spawn("taskset", ["-c", cores, process.execPath, "-e", ...program], { stdio: "inherit" }),
      );
  try {
    const check = join(root, "scripts", "check.mjs");
    return await run("taskset", ["-c", cores, process.execPath, check, ...args]);
  } finally {
    for (const load of loads) load.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
});
