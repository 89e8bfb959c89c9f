/**
 * Once per run: what is expensive to make, and only read by tests. The first test that needs it
 * makes it, in a folder of the run; the others wait for that. The run removes the folder (run.ts).
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { until } from "./until.ts";

/** `make` gets the folder, and returns facts that JSON can express. */
export async function oncePerRun<T>(
  name: string,
  make: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = join(inject("runDirectory"), name);
  const done = join(folder, "done");
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const result = await resultOf(() => make(folder));
    writeFileSync(`${done}.next`, JSON.stringify(result));
    renameSync(`${done}.next`, done);
  }
  await until(() => existsSync(done), `${name} of this run`);
  const result: Awaited<ReturnType<typeof resultOf<T>>> = JSON.parse(readFileSync(done, "utf8"));
  if ("error" in result) throw new Error(result.error);
  return result.value;
}

async function resultOf<T>(make: () => T | Promise<T>) {
  try {
    return { value: await make() };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
