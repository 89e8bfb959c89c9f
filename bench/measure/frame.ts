/**
 * Frame: what every bench has around its measures: options, the table or its JSON, the machine, and an
 * exit code of 1 if a median misses its bound.
 */

import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { compare, type Plan, type Way } from "./compare.ts";
import { type Bound, isReached, type Result, speed, toJson, toTable } from "./result.ts";
import { makeScratch, memoryFileSystem } from "./scratch.ts";

export interface Scene {
  readonly directory: string;
  readonly isQuick: boolean;
  /** Another checkout, built, to compare with. */
  readonly against: string | undefined;
  /** How many of what is measured, if the bench asks. */
  readonly sizes: readonly number[] | undefined;
}

/** Runs a bench with the command line's options, and sets the exit code. */
export async function runBench(
  name: string,
  measureAll: (scene: Scene) => Promise<readonly Result[]>,
): Promise<void> {
  const { quick, json, dir, against, sizes } = parseOptions(name);
  const directory = makeScratch(dir);
  const inMemory = memoryFileSystem(directory);
  if (inMemory !== null) {
    say(`warning: ${directory} is on ${inMemory}, not on a disk; choose another with --dir`);
  }
  const loadBefore = loadavg()[0] ?? 0;

  const results = await measureAll({
    directory,
    isQuick: quick,
    against,
    sizes: sizes?.split(",").map(Number),
  });

  const isOk = results.every(isReached);
  const machine = describeMachine(inMemory ?? "disk", loadBefore);
  process.stdout.write(
    json
      ? `${JSON.stringify({ ok: isOk, quick, machine, results: results.map(toJson) }, null, 2)}\n`
      : `${toTable(results)}\n\n${Object.values(machine).join(", ")}\n`,
  );
  process.exitCode = isOk ? 0 : 1;
}

export interface Measure {
  readonly ways: readonly Way[];
  readonly reference: Way;
  readonly plan: Plan;
  /** One for each of `ways`. */
  readonly bounds: readonly Bound[];
  readonly show?: typeof speed;
}

export async function measure(name: string, { show = speed, ...what }: Measure): Promise<Result[]> {
  say(name);
  const { ways, reference } = await compare(what.ways, what.reference, what.plan);
  return ways.map((ours, n) => {
    const full = ways.length > 1 ? `${name}, ${ours.name}` : name;
    return show(full, ours, reference, what.bounds[n] ?? null);
  });
}

/** Prints what is being measured, separate from the results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Facts about the machine. A load well above 1 means that other processes were busy too. */
function describeMachine(fileSystem: string, loadBefore: number) {
  return {
    node: `Node ${process.versions.node}`,
    platform: `${process.platform} ${process.arch}`,
    processors: `${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`,
    files: `files on ${fileSystem}`,
    load: `load ${loadBefore.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after`,
  };
}

function parseOptions(name: string) {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        dir: { type: "string" },
        against: { type: "string" },
        sizes: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    const usage = `usage: npm run bench -- ${name} [--quick] [--json] [--dir <directory on a real disk>] [--against <checkout>] [--sizes <numbers>]`;
    say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}
