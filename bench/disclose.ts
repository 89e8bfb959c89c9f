/**
 * `npm run bench -- disclose`: writing and verifying a disclosed copy of a large transcript, against
 * `verify --deep` of the transcript itself, in processor time.
 */

import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runBench, say } from "./measure/frame.ts";
import { compared, memory } from "./measure/result.ts";
import { ID, newLogSigner, privatePem, signTurn, turnLines } from "./signing/thread.ts";

const ONCE = fileURLToPath(new URL("./disclose/once.mjs", import.meta.url));
const TURN_BYTES = 100_000;
/** In one line of every turn. */
const SECRET = "the secret word";

await runBench("disclose", async ({ directory, isQuick }) => {
  const [turns, runs] = isQuick ? [1000, 3] : [10_000, 5];
  const [path, key, copy] = ["large.jsonl", "key.pem", "large.vbd"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const size = `${Math.round((turns * TURN_BYTES) / 1e6)} MB`;
  say(`making a transcript of ${size}`);
  const lines = Buffer.from(
    turnLines(TURN_BYTES, 2000).toString().replace("age of wisdom", SECRET),
  );
  const log = newLogSigner();
  const file = openSync(path, "w");
  for (let turn = 1; turn <= turns; turn++) {
    const { checkpoint } = await signTurn(log, lines, turn);
    writeSync(file, lines);
    writeSync(file, checkpoint);
  }
  closeSync(file);
  writeFileSync(key, privatePem, { mode: 0o600 });
  const once = (way: string): { readonly ms: number; readonly mb: number } => {
    const args = [ONCE, way, path, ID, key, copy];
    const stdio = ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"];
    const child = spawnSync(process.execPath, args, { encoding: "utf8", stdio });
    if (child.status !== 0) throw new Error(`${way} exited with ${child.status}`);
    return JSON.parse(child.stdout);
  };
  once("deep"); // Reads it into the page cache, if it fits.
  const rates: Record<"deep" | "redact" | "check", number[]> = { deep: [], redact: [], check: [] };
  const megabytes: number[] = [];
  for (let run = 0; run < runs; run++) {
    for (const way of ["deep", "redact", "check"] as const) {
      const { ms, mb } = once(way);
      rates[way].push((turns * TURN_BYTES) / 1e3 / ms);
      if (way !== "deep") megabytes.push(mb);
    }
  }
  rmSync(key);
  const half = { atLeast: 0.5 };
  return [
    compared(`redact ${size}, rate against verify --deep`, rates.redact, rates.deep, "MB/s", half),
    compared(`verify its copy, rate against the same`, rates.check, rates.deep, "MB/s", half),
    memory("either, resident memory", megabytes, { atMost: 150 }),
  ];
});
