/**
 * Directory target: a new data directory, made from copied streams.
 *
 * The bytes go to `logs/`. The state goes to `meta.jsonl` in the folder `copying`; moving that file
 * to its place makes the directory a store. A server refuses a directory with that folder.
 *
 * Bytes are durable before the group of `meta.jsonl` that names them. What the last group names is
 * how far the copy is; bytes after that are written again.
 */

import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { BLOCK_BYTES } from "../commit/batch.ts";
import type { MessageBlock, StreamState } from "../commit/stream-state.ts";
import { openLocalStore } from "../files/local-store.ts";
import { logFileName } from "../files/stream-path.ts";
import { COPYING, lockToWrite } from "../journal/data-directory.ts";
import { crcOf } from "../journal/journal-record.ts";
import { encodeMetaLine, MetaFile, type MetaLine } from "../journal/meta-file.ts";
import { DirectorySource } from "./directory-source.ts";
import { type CopySource, type CopyTarget, copyRefused, type StreamPart } from "./sides.ts";

/** Has the identity of the source. */
const BEGUN = "from";
const SYNCS_AT_ONCE = 3;

/** How far a stream is, and its messages that no block covers yet. */
type Place = Pick<StreamState, "path" | "end" | "blockStart" | "blockCrc">;

export async function openDirectoryTarget(
  host: Host,
  path: string,
  source: CopySource,
  newId: () => string,
): Promise<DirectoryTarget> {
  const place = existsSync(path) ? realpathSync(path) : path;
  if (`${place}/`.startsWith(`${source.location}/`)) {
    throw copyRefused(path, "it is the source, or inside it; choose another directory");
  }
  const root = await host.files.openDirectory(path, { create: true });
  const opened: { close(): void }[] = [root];
  const keep = <T extends { close(): void }>(part: T): T => {
    opened.push(part);
    return part;
  };
  try {
    const isBegun = refuseUnlessEmpty(root);
    keep(await lockToWrite(host, root));
    const copying = keep(await host.files.openDirectory(`${path}/${COPYING}`, { create: true }));
    const identity = await readSmallFile(copying, BEGUN);
    if (identity === null) await replaceFileDurably(copying, BEGUN, source.identity);
    else if (identity !== source.identity) {
      throw copyRefused(path, "another copy, or one of other contents, was begun there; delete it");
    }
    const logs = keep(await host.files.openDirectory(`${path}/logs`, { create: true }));
    (await host.files.openDirectory(`${path}/journal`, { create: true })).close();
    // The last run may have been killed just before it removed the folder.
    const metaIn = root.names().includes("meta.jsonl") ? root : copying;
    const meta = keep(await MetaFile.open(metaIn, newId()));
    await meta.settle();
    const parts = { host, root, copying, metaIn, logs, meta, opened };
    return new DirectoryTarget(parts, isBegun && identity !== null, await lastOf(meta));
  } catch (cause) {
    for (const each of opened.reverse()) each.close();
    throw cause;
  }
}

/** Returns whether a copy was begun there. */
function refuseUnlessEmpty({ path }: Directory): boolean {
  const names = readdirSync(path);
  if (names.includes(COPYING)) return true;
  if (names.filter((name) => name !== "streams.lock").length === 0) return false;
  throw copyRefused(path, "it is not empty; choose an empty or new directory");
}

/** The last complete stream, and the incomplete one after it. */
async function lastOf(meta: MetaFile): Promise<{ after: string; place: Place | null }> {
  let after = "";
  let place: Place | null = null;
  for await (const { line } of meta.lines(0)) {
    if (line.kind !== "stream") continue;
    const { state, from, messages } = line;
    const end = messages.reduce((sum, value, n) => (n % 3 === 0 ? sum + value : sum), from);
    const isDone = end === state.end || state.status === "deleted";
    if (isDone) after = state.path;
    place = isDone ? null : { ...state, end };
  }
  return { after, place };
}

interface Parts {
  readonly host: Host;
  readonly root: Directory;
  readonly copying: Directory;
  readonly metaIn: Directory;
  readonly logs: Directory;
  readonly meta: MetaFile;
  readonly opened: { close(): void }[];
}

export class DirectoryTarget implements CopyTarget {
  readonly place: string;
  readonly isResumed: boolean;
  readonly after: string;
  readonly #parts: Parts;
  #place: Place | null;

  constructor(parts: Parts, isResumed: boolean, last: { after: string; place: Place | null }) {
    this.place = parts.root.path;
    this.#parts = parts;
    this.isResumed = isResumed;
    this.after = last.after;
    this.#place = last.place;
  }

  async endOf({ path, base }: StreamState): Promise<number> {
    return this.#place?.path === path ? this.#place.end : base;
  }

  async putCheckpoints(stream: StreamState, at: number, bytes: Buffer): Promise<void> {
    await this.#write(sidecarOf(fileOf(stream)), [{ at, bytes }]);
  }

  async put(parts: readonly StreamPart[]): Promise<void> {
    if (parts.length === 0) return;
    const files = new Map<string, { at: number; bytes: Buffer }[]>();
    for (const { state, from, bytes } of parts) {
      if (bytes.length === 0) continue;
      const file = fileOf(state);
      files.set(file, [...(files.get(file) ?? []), { at: from - state.base, bytes }]);
    }
    const left = files.entries();
    const writeSome = async () => {
      for (const [file, pieces] of left) await this.#write(file, pieces);
    };
    await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, writeSome));
    await this.#parts.logs.sync();
    await this.#group(parts.map((part) => this.#lineOf(part)));
  }

  async putRecords(records: ReadonlyMap<string, string>): Promise<void> {
    const lines = [...records].map(([key, value]) => ({ kind: "record", key, value }) as const);
    await this.#group(lines);
  }

  asSource(): Promise<CopySource> {
    const { host, root, metaIn } = this.#parts;
    return DirectorySource.open(host, root, metaIn, []);
  }

  async finish(): Promise<void> {
    const { host, root, copying, metaIn } = this.#parts;
    if (metaIn === copying) renameSync(`${copying.path}/meta.jsonl`, `${root.path}/meta.jsonl`);
    await root.sync();
    rmSync(copying.path, { recursive: true });
    await root.sync();
    await root.syncAncestors();
    await this.close();
    await (await openLocalStore({ dataDirectory: root.path, host })).close(); // Makes streams.db.
  }

  async close(): Promise<void> {
    for (const each of this.#parts.opened.splice(0).reverse()) each.close();
  }

  /** What is in the file after the first piece is of a run that was killed. */
  async #write(name: string, pieces: readonly { at: number; bytes: Buffer }[]): Promise<void> {
    const file: OpenFile = this.#parts.logs.open(name, "update");
    try {
      const [first] = pieces;
      if (first !== undefined && file.size() > first.at) file.truncate(first.at);
      for (const { at, bytes } of pieces) writeAtOnce(file, bytes, at);
      await file.sync();
    } finally {
      file.close();
    }
  }

  async #group(lines: readonly MetaLine[]): Promise<void> {
    const { meta } = this.#parts;
    async function* pieces() {
      for (const line of lines) yield encodeMetaLine(line);
    }
    await meta.append(pieces(), meta.writtenBackLsn + 1);
  }

  #lineOf({ state, from, pointers, bytes, producers }: StreamPart): MetaLine {
    const { path, base } = state;
    const isNew = this.#place?.path !== path;
    const place: Place = isNew || !this.#place ? { path, end: base, ...noRun(base) } : this.#place;
    const { blocks, ...run } = blocksOf(place, from, pointers, bytes);
    const end = from + bytes.length;
    this.#place = { path, end, ...run };
    let before = 0;
    const messages = pointers.flatMap(({ length, timestamp, crc }) => {
      const later = timestamp - before;
      before = timestamp;
      return [length, later, crc >>> 0];
    });
    const storedState = { ...state, file: fileOf(state), ...run };
    return { kind: "stream", state: storedState, isNew, from, messages, blocks, producers };
  }
}

function noRun(base: number) {
  return { blockStart: base, blockCrc: 0 };
}

function fileOf({ path, readSeq, isJson }: StreamState): string {
  return logFileName(path, readSeq, isJson);
}

/** The blocks that messages fill, as an append would make them (streams/commit/batch.ts). */
function blocksOf(
  { blockStart, blockCrc }: Place,
  from: number,
  pointers: StreamPart["pointers"],
  bytes: Buffer,
): { blocks: MessageBlock[]; blockStart: number; blockCrc: number } {
  const blocks: MessageBlock[] = [];
  for (const { end, length } of pointers) {
    blockCrc = crcOf(bytes.subarray(end - length - from, end - from), blockCrc);
    if (end - blockStart < BLOCK_BYTES) continue;
    blocks.push({ start: blockStart, end, crc: blockCrc });
    blockStart = end;
    blockCrc = 0;
  }
  return { blocks, blockStart, blockCrc };
}
