/**
 * Streams machine: a store of streams on a fault disk, and how to make requests to it.
 *
 * Only `streams.db` is a real file. It can be rebuilt, so it does not lose pages: all of it is
 * lost, or everything since a copy was made. Each process has its own copy, so that a dead one
 * cannot write to it.
 */

import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import type { OffsetToken } from "../../src/streams/files/offset-token.ts";
import type { CreateRequest } from "../../src/streams/files/stream-store.ts";
import type { Machine, Process } from "./fault-files.ts";
import type { Random } from "./scheduler.ts";
import type { Operation } from "./stream-oracle.ts";

export const DATA = "/data";
export const LOGS = `${DATA}/logs`;
const JSON_TYPE = "application/json";
const OTHER_TYPE = "application/octet-stream";
/** The database and its write-ahead log. SQLite makes the third file, `-shm`, again. */
const ENDINGS = ["", "-wal"] as const;

export type IndexFate = "kept" | "deleted" | "older";

export class StreamsMachine {
  readonly machine: Machine;
  readonly #directory: string;
  #indexes = 0;
  #ids = 0;
  /** The time of day; changes only when the driver sets it. */
  nowMs = 1_763_200_000_000;

  /** `directory`: a real, empty one for the databases. */
  constructor(machine: Machine, directory: string) {
    this.machine = machine;
    this.#directory = directory;
  }

  open(process: Process): Promise<LocalStore> {
    return openLocalStore({
      dataDirectory: DATA,
      indexPath: this.#path(String(this.#indexes)),
      host: process.host,
      ...wayOf(this.machine.options.random),
      now: () => this.nowMs,
      // Not random, so that a run is the same every time.
      newId: () => (this.#ids++).toString(16).padStart(16, "0"),
    });
  }

  /** Copies the database, to be put back later as `older`. */
  copyIndex(): void {
    this.#removeIndex("older");
    this.#copyIndex(String(this.#indexes), "older");
  }

  /** Call it when a process has ended: decides what the next one finds of its database. */
  endProcess(fate: IndexFate): void {
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
    writeBackBytes: random.pick([300, 2000, 20_000]),
    writeBackMs: random.pick([300, 60_000]),
    openFilesMax: random.pick([1, 2, 50]),
    statesMax: random.pick([1, 3, 1000]),
    keepDeletedMs: random.pick([0, 1500]),
  };
  return { ...way, indexRowsMax: way.openFilesMax };
}

/** Makes a request and returns the answer as the oracle words it. */
export async function ask(store: LocalStore, operation: Operation): Promise<string> {
  try {
    if (operation.kind === "append") return await append(store, operation);
    if (operation.kind !== "remove") return await create(store, operation);
    await store.remove(operation.path);
    return "removed";
  } catch (error) {
    const code = error instanceof VerbatimError ? error.code : null;
    const refusals =
      operation.kind === "append" || operation.kind === "remove" ? NO_STREAM : NOT_CREATED;
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
  operation: Extract<Operation, { kind: "create" | "fork" }>,
): Promise<string> {
  const { isNew, head } = await store.create(operation.path, createRequest(operation));
  return isNew ? `new ${head.end}` : "no";
}

function createRequest(operation: Extract<Operation, { kind: "create" | "fork" }>): CreateRequest {
  if (operation.kind === "fork") {
    const { source, from, past } = operation;
    const fork = { source, at: (from ?? undefined) as OffsetToken | undefined, subOffset: past };
    return { body: new Uint8Array(), isClosed: false, lifetime: { kind: "forever" }, fork };
  }
  const { isJson, values, isClosed, untilMs } = operation;
  return {
    contentType: isJson ? JSON_TYPE : OTHER_TYPE,
    body: bodyOf(isJson, values),
    isClosed,
    lifetime: untilMs === null ? undefined : { kind: "until", atMs: untilMs, text: "then" },
  };
}

async function append(
  store: LocalStore,
  { path, isJson, values, producer, streamSeq, close }: Extract<Operation, { kind: "append" }>,
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
