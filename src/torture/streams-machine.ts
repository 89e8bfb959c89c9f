/**
 * Streams machine: a store of streams on a machine whose disk lies.
 *
 * `streams.db` alone is a real file: what it holds can be made anew, and so it is not its pages
 * that are lost but all of it, or what was written since some moment. Each process has a copy of
 * its own, so that one that is dead cannot write to it.
 */

import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import { type LocalStore, openLocalStore } from "../streams/local-store.ts";
import type { OffsetToken } from "../streams/offset-token.ts";
import type { CreateRequest } from "../streams/stream-store.ts";
import { Machine, type MachineOptions, type Process } from "./fault-files.ts";
import type { Random } from "./random.ts";
import type { Deed } from "./stream-oracle.ts";

export const DATA = "/data";
export const LOGS = `${DATA}/logs`;
const JSON_TYPE = "application/json";
const OTHER_TYPE = "application/octet-stream";
/** A database and what it has not taken in yet; the third file is made anew. */
const ENDINGS = ["", "-wal"] as const;

export type IndexFate = "kept" | "deleted" | "older";

export class StreamsMachine {
  readonly machine: Machine;
  readonly #options: MachineOptions;
  readonly #directory: string;
  #indexes = 0;
  #ids = 0;
  /** The time of day; stands still until somebody sets it. */
  nowMs = 1_763_200_000_000;

  /** `directory` is a real one, empty, for the databases. */
  constructor(options: MachineOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.machine = new Machine(options);
  }

  open(process: Process): Promise<LocalStore> {
    const { random, scheduler } = this.#options;
    return openLocalStore({
      dataDirectory: DATA,
      indexPath: this.#path(String(this.#indexes)),
      host: {
        files: process,
        clock: scheduler,
        process: { pid: 1, started: "2026-01-01T00:00:00.000Z" },
      },
      ...wayOf(random),
      now: () => this.nowMs,
      // Not random: a run is the same every time.
      newId: () => (this.#ids++).toString(16).padStart(16, "0"),
    });
  }

  /** Keeps the database as it is now, to be put back some day. */
  copyIndex(): void {
    this.#removeIndex("older");
    this.#copyIndex(String(this.#indexes), "older");
  }

  /** The process is no more; what the next one finds of its database. */
  endProcess(process: Process, fate: IndexFate): void {
    process.kill();
    const before = String(this.#indexes++);
    const after = String(this.#indexes);
    if (fate === "kept") this.#copyIndex(before, after);
    if (fate === "older") this.#copyIndex("older", after);
    this.#removeIndex(before);
  }

  #copyIndex(from: string, to: string): void {
    for (const ending of ENDINGS) {
      const path = this.#path(from) + ending;
      if (existsSync(path)) copyFileSync(path, this.#path(to) + ending);
    }
  }

  #removeIndex(name: string): void {
    for (const ending of [...ENDINGS, "-shm"]) rmSync(this.#path(name) + ending, { force: true });
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.db`);
  }
}

function wayOf(random: Random) {
  const way = {
    checkpointBytes: random.pick([300, 2000, 20_000]),
    checkpointMs: random.pick([300, 60_000]),
    openFilesMax: random.pick([1, 2, 50]),
    statesMax: random.pick([1, 3, 1000]),
    keepDeletedMs: random.pick([0, 1500]),
  };
  return { ...way, indexRowsMax: way.openFilesMax };
}

/** Asks the store, in its words; the answer in the oracle's. */
export async function ask(store: LocalStore, deed: Deed): Promise<string> {
  try {
    if (deed.kind === "append") return await append(store, deed);
    if (deed.kind !== "remove") return await create(store, deed);
    await store.remove(deed.path);
    return "removed";
  } catch (error) {
    const code = error instanceof VerbatimError ? error.code : null;
    const refusals = deed.kind === "append" || deed.kind === "remove" ? NO_STREAM : NOT_CREATED;
    if (code === null || !refusals.has(code)) throw error;
    return refusals === NO_STREAM ? "no stream" : "no";
  }
}

const NO_STREAM: ReadonlySet<string> = new Set(["STREAM_NOT_FOUND", "STREAM_GONE"]);
const NOT_CREATED: ReadonlySet<string> = new Set([
  ...NO_STREAM,
  "STREAM_CONFLICT",
  "BAD_OFFSET",
  "OFFSET_GONE",
]);

async function create(
  store: LocalStore,
  deed: Extract<Deed, { kind: "create" | "fork" }>,
): Promise<string> {
  const { isNew, head } = await store.create(deed.path, createRequest(deed));
  return isNew ? `new ${head.end}` : "no";
}

function createRequest(deed: Extract<Deed, { kind: "create" | "fork" }>): CreateRequest {
  if (deed.kind === "fork") {
    const { source, from, past } = deed;
    const fork = { source, at: (from ?? undefined) as OffsetToken | undefined, subOffset: past };
    return { body: new Uint8Array(), isClosed: false, lifetime: { kind: "forever" }, fork };
  }
  const { isJson, values, isClosed, untilMs } = deed;
  return {
    contentType: isJson ? JSON_TYPE : OTHER_TYPE,
    body: bodyOf(isJson, values),
    isClosed,
    lifetime: untilMs === null ? undefined : { kind: "until", atMs: untilMs, text: "then" },
  };
}

async function append(
  store: LocalStore,
  { path, isJson, values, producer, streamSeq, close }: Extract<Deed, { kind: "append" }>,
): Promise<string> {
  const appended = await store.append(path, {
    body: bodyOf(isJson, values),
    contentType: isJson ? JSON_TYPE : OTHER_TYPE,
    producer: producer ?? undefined,
    streamSeq: streamSeq ?? undefined,
    close,
  });
  const { outcome } = appended;
  if (outcome === "appended") return `appended ${appended.head.end} ${appended.lastSeq}`;
  if (outcome === "duplicate") return `duplicate ${appended.lastSeq}`;
  if (outcome === "stale-epoch") return `stale-epoch ${appended.epoch}`;
  return outcome === "gap" ? `gap ${appended.expected}` : outcome;
}

function bodyOf(isJson: boolean, values: readonly string[]): Uint8Array {
  if (!isJson || values.length === 0) return Buffer.from(values.join(""));
  return Buffer.from(`[ ${values.join(" ,\n")} ]`);
}
