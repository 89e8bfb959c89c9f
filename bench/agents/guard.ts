/** The guard's rows: its first copy against `cp -r` and `sync`, and the memory of its process. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { say } from "../measure/frame.ts";
import { compared, memory, type Result } from "../measure/result.ts";

/** Directories of the corpus that are guarded. */
const GUARDED = [".claude", ".codex"];

/** `guardOnce` runs `guard --once` with its store below this directory. */
export function guarding(
  what: string,
  home: string,
  directory: string,
  runs: number,
  guardOnce: (data: string) => { readonly wallMs: number; readonly mb: number },
): Result[] {
  const name = `guard, first copy of ${what}, against cp -r and sync`;
  say(name);
  const [ours, reference]: [number[], number[]] = [[], []];
  const [first, unchanged]: [number[], number[]] = [[], []];
  const [data, plain] = [join(directory, "guarded"), join(directory, "plain")];
  const copyPlainly = () => {
    mkdirSync(plain);
    const started = performance.now();
    execFileSync("cp", ["-r", ...GUARDED.map((each) => join(home, each)), plain]);
    execFileSync("sync");
    reference.push(performance.now() - started);
  };
  const guard = () => {
    const took = guardOnce(data);
    ours.push(took.wallMs);
    first.push(took.mb);
    unchanged.push(guardOnce(data).mb);
  };
  for (let n = 0; n < runs; n++) {
    for (const copy of n % 2 === 0 ? [copyPlainly, guard] : [guard, copyPlainly]) {
      for (const each of [data, plain]) rmSync(each, { recursive: true, force: true });
      execFileSync("sync"); // Neither pays for what was written or removed before.
      copy();
    }
  }
  for (const each of [data, plain]) rmSync(each, { recursive: true, force: true });
  return [
    compared(name, ours, reference, "ms", { atMost: 2.5 }),
    memory("guard, peak memory of the first copy", first, { atMost: 100 }),
    memory("guard, peak memory when nothing changed", unchanged, { atMost: 100 }),
  ];
}
