/**
 * Ways to append: ours, the bare system calls, and the peers. Each writes the same lines repeatedly to
 * its own file, which is deleted after the run.
 */

import { closeSync, fdatasync, openSync, rmSync, write, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import Hypercore from "hypercore";
import SonicBoom from "sonic-boom";
import type { Durability, LogMode, LogWriter } from "../../src/doors/log.ts";
import type { Trial, Way } from "../measure/compare.ts";
import { openLog } from "./built.ts";
import { smallLines } from "./lines.ts";

export const LINE_BYTES = 300;
export const BATCH_LINES = 100;
export const WAVE_LINES = 64;

const LF = Buffer.from("\n");
/**
 * A whole number of batches and waves, and few enough to stay in the processor's cache: in practice a
 * line was just made when it is appended.
 */
const lines = smallLines((BATCH_LINES * WAVE_LINES) / 4, LINE_BYTES);
const whole = lines.map((line) => Buffer.concat([line, LF]));
const batches = inGroups(whole, BATCH_LINES);
const waves = inGroups(whole, WAVE_LINES);
const texts = whole.map((line) => line.toString("utf8"));

export class Appending {
  readonly #directory: string;
  #files = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** One `append` after the other. */
  ours(durability: Durability, mode: LogMode): Way {
    return this.#ourWay(durability, mode, async (log, operations) => {
      for (let n = 0; n < operations; n++) await log.append(nth(lines, n));
    });
  }

  /** One `appendLines` after the other. */
  oursInBatches(durability: Durability, mode: LogMode): Way {
    return this.#ourWay(durability, mode, async (log, operations) => {
      for (let n = 0; n < operations; n++) await log.appendLines(nth(batches, n));
    });
  }

  /** As many callers as a wave has lines, each awaiting its own; an operation is a wave. */
  oursInWaves(durability: Durability, mode: LogMode): Way {
    return this.#ourWay(durability, mode, async (log, operations) => {
      for (let n = 0; n < operations; n++) {
        const appends: Promise<unknown>[] = [];
        for (let k = 0; k < WAVE_LINES; k++)
          appends.push(log.append(nth(lines, n * WAVE_LINES + k)));
        await Promise.all(appends);
      }
    });
  }

  bare(): Way {
    return this.#descriptorWay((descriptor, operations) => {
      for (let n = 0; n < operations; n++) writeSync(descriptor, nth(whole, n));
    });
  }

  bareInBatches(): Way {
    return this.#descriptorWay((descriptor, operations) => {
      for (let n = 0; n < operations; n++) writeSync(descriptor, nth(batches, n));
    });
  }

  bareDurable(): Way {
    return this.#descriptorWay(async (descriptor, operations) => {
      for (let n = 0; n < operations; n++) await writeDurably(descriptor, nth(whole, n));
    });
  }

  /** Ideal group commit: the lines of a wave are one buffer beforehand. */
  bareInWaves(): Way {
    return this.#descriptorWay(async (descriptor, operations) => {
      for (let n = 0; n < operations; n++) await writeDurably(descriptor, nth(waves, n));
    });
  }

  /** Pino's writer, with strings, as pino uses it, or bytes, as we do, which are faster. */
  sonicBoom(contentMode: "utf8" | "buffer"): Way {
    const given = contentMode === "utf8" ? texts : whole;
    return this.#way("sonic-boom", (path) => {
      const file = new SonicBoom({ dest: path, sync: true, contentMode });
      return {
        run(operations) {
          for (let n = 0; n < operations; n++) file.write(nth<string | Uint8Array>(given, n));
        },
        close: () =>
          new Promise<void>((resolve) => {
            file.once("close", resolve);
            file.end();
          }),
      };
    });
  }

  /** A signed, replicable log, on its default storage, which does not wait for the disk either. */
  hypercore(): Way {
    return this.#way("hypercore", async (path) => {
      const core = new Hypercore(path);
      await core.ready();
      return {
        async run(operations) {
          for (let n = 0; n < operations; n++) await core.append(nth(lines, n));
        },
        close: () => core.close(),
      };
    });
  }

  /** A row per line, each in its own transaction. With `OFF` it does not wait for the disk. */
  sqlite(synchronous: "FULL" | "OFF"): Way {
    return this.#way("sqlite", (path) => {
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
      database.exec("CREATE TABLE lines (id INTEGER PRIMARY KEY, line BLOB NOT NULL)");
      const insert = database.prepare("INSERT INTO lines (line) VALUES (?)");
      return {
        run(operations) {
          for (let n = 0; n < operations; n++) insert.run(nth(lines, n));
        },
        close: () => database.close(),
      };
    });
  }

  #ourWay(
    durability: Durability,
    mode: LogMode,
    run: (log: LogWriter, operations: number) => Promise<void>,
  ): Way {
    return this.#way(mode, async (path) => {
      const log = await openLog(path, { durability, mode });
      return { run: (operations) => run(log, operations), close: () => log.close() };
    });
  }

  #descriptorWay(run: (descriptor: number, operations: number) => Promise<void> | void): Way {
    return this.#way("bare", (path) => {
      const descriptor = openSync(path, "a");
      return {
        run: (operations) => run(descriptor, operations),
        close: () => closeSync(descriptor),
      };
    });
  }

  #way(name: string, open: (path: string) => Promise<Trial> | Trial): Way {
    return {
      name,
      open: async () => {
        const path = join(this.#directory, `${name}-${this.#files++}`);
        const trial = await open(path);
        return {
          run: (operations) => trial.run(operations),
          async close() {
            await trial.close();
            for (const made of [path, `${path}.lock`])
              rmSync(made, { recursive: true, force: true });
          },
        };
      },
    };
  }
}

/** One promise for both calls: `fs/promises` and a promise per call are slower. */
function writeDurably(descriptor: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (writeError) => {
      if (writeError) return reject(writeError);
      fdatasync(descriptor, (syncError) => (syncError ? reject(syncError) : resolve()));
    });
  });
}

function inGroups(buffers: readonly Buffer[], size: number): Buffer[] {
  return Array.from({ length: buffers.length / size }, (_, group) =>
    Buffer.concat(buffers.slice(group * size, (group + 1) * size)),
  );
}

function nth<T>(values: readonly T[], n: number): T {
  return values[n % values.length] as T;
}
