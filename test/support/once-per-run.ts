/**
 * Once per run: what is expensive to make, and only read by tests. The first test that needs it
 * makes it, in a folder of the run; the others wait for that as long as its process lives: packing
 * and installing took minutes on a busy machine. The run removes the folder (run.ts).
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { inject } from "vitest";

/** `make` gets the folder, and returns facts that JSON can express. */
export async function oncePerRun<T>(
  name: string,
  make: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = join(inject("runDirectory"), name);
  const done = join(folder, "done");
  const maker = join(folder, "maker");
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    writeFileSync(maker, String(process.pid));
    const result = await resultOf(() => make(folder));
    writeFileSync(`${done}.next`, JSON.stringify(result));
    renameSync(`${done}.next`, done);
  }
  for (;;) {
    const isOver = hasEnded(maker);
    if (existsSync(done)) break;
    assert.ok(!isOver, `the process that made ${name} of this run has ended`);
    await setTimeout(50);
  }
  const result: Awaited<ReturnType<typeof resultOf<T>>> = JSON.parse(readFileSync(done, "utf8"));
  if ("error" in result) throw new Error(result.error);
  return result.value;
}

/** Whether the process whose id is in a file has ended. */
function hasEnded(path: string): boolean {
  const pid = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
  try {
    return pid > 0 && !process.kill(pid, 0);
  } catch {
    return true;
  }
}

async function resultOf<T>(make: () => T | Promise<T>) {
  try {
    return { value: await make() };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
