/**
 * `npm run bench -- prove`: the time of a proof of one entry of a large transcript with its leaf
 * index, beyond start-up, and of making that index.
 */

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runBench, say } from "./measure/frame.ts";
import { memory, type Result } from "./measure/result.ts";
import { ID, newLogSigner, privatePem, signTurn, turnLines } from "./signing/thread.ts";

const ONCE = fileURLToPath(new URL("./prove/once.mjs", import.meta.url));
const TURN_BYTES = 100_000;
const LINE_BYTES = 500;
/** Lines of a turn, with its checkpoint. */
const TURN_LINES = TURN_BYTES / LINE_BYTES + 1;

interface Measured {
  readonly wall: number;
  readonly ms: number;
  readonly read: number;
  readonly bytes: number;
  readonly mb: number;
}

await runBench("prove", async ({ directory, isQuick }) => {
  const turns = isQuick ? 1000 : 10_000;
  const [path, key, indexes] = ["large.jsonl", "key.pem", "leaves"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const size = `${Math.round((turns * TURN_BYTES) / 1e6)} MB`;
  say(`making a transcript of ${size}, in lines of ${LINE_BYTES} bytes`);
  const lines = turnLines(TURN_BYTES, LINE_BYTES);
  const log = newLogSigner();
  const file = openSync(path, "w");
  for (let turn = 1; turn <= turns; turn++) {
    const { checkpoint } = await signTurn(log, lines, turn);
    writeSync(file, lines);
    writeSync(file, checkpoint);
  }
  closeSync(file);
  writeFileSync(key, privatePem, { mode: 0o600 });
  mkdirSync(indexes);
  const prove = (entry: number): Measured => {
    const args = [ONCE, path, ID, key, indexes, String(entry)];
    const stdio = ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"];
    const child = spawnSync(process.execPath, args, { encoding: "utf8", stdio });
    if (child.status !== 0) throw new Error(`prove exited with ${child.status}`);
    return JSON.parse(child.stdout);
  };
  say("making its leaf index");
  const first = prove(TURN_LINES * 5 + 3);
  const proofs = Array.from({ length: 9 }, (_, n) =>
    prove(Math.floor(((n + 0.5) / 9) * turns) * TURN_LINES + 3 + n),
  );
  rmSync(key);
  if (proofs.some(({ read }) => read > 0)) throw new Error("the index was not used");
  const ms = (measure: string, values: readonly number[], bound: Result["bound"]): Result => {
    return { measure, ours: null, reference: null, values, unit: "ms", bound };
  };
  const each = (field: keyof Measured) => proofs.map((proof) => proof[field]);
  return [
    ms(`prove in ${size} with its index, beyond start-up`, each("wall"), { atMost: 200 }),
    ms("the same, processor time", each("ms"), { atMost: 200 }),
    ms(`verify ${size} and make its index, processor time`, [first.ms], null),
    memory("prove with an index, resident memory", each("mb"), { atMost: 200 }),
  ];
});
