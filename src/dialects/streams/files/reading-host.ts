/**
 * Reading host: presents a data directory to readers of sessions: `logs/` has one file for each
 * live JSON stream, named after its path, with the whole stream.
 *
 * The source's bytes come before a fork's own, so that positions in the file are offsets of the
 * stream. Nothing can be written.
 */

import { resolve } from "node:path";
import { VerbatimError } from "../../../core/base/errors.ts";
import type { Directory, Files, OpenFile, OpenMode } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { type StoredStream, streamsIn } from "../../../streams/files/reading/stream-list.ts";
import { streamPathToFilename } from "../../../streams/files/stream-path.ts";
import { openOrEmpty } from "../../../streams/journal/empty-file.ts";
import { sidecarOf } from "../../../trust/session-log.ts";

/** `root`: the data directory. */
export function readingHost(host: Host, root: string): Host {
  const logs = resolve(root, "logs");
  const files: Files = {
    makeDirectory: async (path) => {
      throw readOnly(path);
    },
    openDirectory: async (path, options) => {
      const directory = await host.files.openDirectory(path, { ...options, create: false });
      return resolve(path) === logs ? new StreamsDirectory(directory, resolve(root)) : directory;
    },
  };
  return { ...host, files };
}

class StreamsDirectory implements Directory {
  readonly path: string;
  readonly networkFileSystem: string | null;
  readonly #directory: Directory;
  readonly #root: string;

  constructor(directory: Directory, root: string) {
    this.path = directory.path;
    this.networkFileSystem = directory.networkFileSystem;
    this.#directory = directory;
    this.#root = root;
  }

  open(name: string, mode: OpenMode): OpenFile {
    if (mode !== "read") throw readOnly(`${this.path}/${name}`);
    const streams = streamsIn(this.#root);
    const log = name.endsWith(SIDECAR) ? name.slice(0, -SIDECAR.length) : name;
    const stream = living(streams, log);
    if (stream === null) throw notThere(`${this.path}/${name}`);
    if (log === name) return new WholeStream(this.#directory, piecesOf(streams, stream));
    const sidecar = this.#directory.open(sidecarOf(stream.file), mode);
    if (stream.base === 0) return sidecar;
    sidecar.close();
    throw ownOnly(`${this.path}/${name}`, this.#root);
  }

  names(): string[] {
    const names: string[] = [];
    for (const { path, status, isJson } of streamsIn(this.#root).values()) {
      if (status === "live" && isJson) names.push(streamPathToFilename(path));
    }
    return names;
  }

  watch(name: string, onChange: () => void): () => void {
    const stream = living(streamsIn(this.#root), name);
    return this.#directory.watch(stream?.file ?? name, onChange);
  }

  remove(name: string): void {
    throw readOnly(`${this.path}/${name}`);
  }
  rename(from: string): void {
    throw readOnly(`${this.path}/${from}`);
  }
  async sync(): Promise<void> {}
  async syncAncestors(): Promise<void> {}
  close(): void {
    this.#directory.close();
  }
}

const SIDECAR = sidecarOf("");

/** The stream of that name, by its file or by its path; null if none is live. */
function living(streams: ReadonlyMap<string, StoredStream>, name: string): StoredStream | null {
  for (const stream of streams.values()) {
    if (stream.status !== "live" || !stream.isJson) continue;
    if (stream.file === name || streamPathToFilename(stream.path) === name) return stream;
  }
  return null;
}

/** The range of a stream in a file. */
interface Piece {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** The files that a stream consists of, in order. */
function piecesOf(streams: ReadonlyMap<string, StoredStream>, stream: StoredStream): Piece[] {
  const pieces: Piece[] = [{ file: stream.file, start: stream.base, end: Infinity }];
  const seen = new Set([stream.path]);
  for (let at = stream; at.base > 0; ) {
    const [{ start: end }] = pieces as [Piece];
    const source = at.source === null ? undefined : streams.get(at.source);
    if (source === undefined || source.status === "deleted" || seen.has(source.path)) {
      throw new VerbatimError(
        "STREAM_DAMAGED",
        `${stream.path} begins in ${at.source ?? "no stream"}, which does not exist`,
        { stream: stream.path, offset: 0, path: at.file },
      );
    }
    seen.add(source.path);
    if (source.base < end) pieces.unshift({ file: source.file, start: source.base, end });
    at = source;
  }
  return pieces;
}

class WholeStream implements OpenFile {
  readonly #pieces: readonly (Piece & { readonly open: OpenFile })[];
  readonly #own: Piece & { readonly open: OpenFile };

  constructor(directory: Directory, pieces: readonly Piece[]) {
    this.#pieces = pieces.map((piece) => ({ ...piece, open: openOrEmpty(directory, piece.file) }));
    const own = this.#pieces.at(-1);
    if (own === undefined) throw new TypeError("a stream has a file of its own");
    this.#own = own;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    let done = 0;
    for (const { start, end, open } of this.#pieces) {
      const from = at + done;
      if (from >= end || done === into.length) continue;
      const upTo = Math.min(into.length, end - at);
      const count = await open.read(into.subarray(done, upTo), from - start);
      done += count;
      if (count < upTo - (done - count)) break;
    }
    return done;
  }

  size(): number {
    return this.#own.start + this.#own.open.size();
  }
  endsAt(size: number): boolean {
    return this.size() === size;
  }
  identity(): string {
    return `${this.#own.open.identity()}+${this.#own.start}`;
  }
  isLinked(): boolean {
    return this.#own.start > 0 || this.#own.open.isLinked();
  }
  tryLock(): boolean {
    return false;
  }
  unlock(): void {}
  close(): void {
    for (const { open } of this.#pieces) open.close();
  }
  write(): number {
    throw readOnly(this.#own.file);
  }
  landing(): never {
    throw readOnly(this.#own.file);
  }
  writeAt(): number {
    throw readOnly(this.#own.file);
  }
  truncate(): void {
    throw readOnly(this.#own.file);
  }
  narrow(): null {
    return null;
  }
  async sync(): Promise<void> {
    throw readOnly(this.#own.file);
  }
}

function notThere(path: string): Error {
  return Object.assign(new Error(`no stream is at ${path}`), { code: "ENOENT" });
}

function readOnly(path: string): VerbatimError<"BAD_SETTING"> {
  const reason = "streams are only read here; append to them through their server or openStreams";
  return new VerbatimError("BAD_SETTING", `${path} is not written to: ${reason}`, {
    setting: "dialect",
    from: "streams",
    reason,
  });
}

function ownOnly(path: string, root: string): VerbatimError<"STREAM_DAMAGED"> {
  return new VerbatimError(
    "STREAM_DAMAGED",
    `${path} covers only the fork's own bytes; \`verbatim verify ${root}\` judges all of it`,
    { stream: path, offset: 0, path },
  );
}
