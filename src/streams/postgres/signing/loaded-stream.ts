/**
 * Loaded stream: what is stored about a signed stream, as of one moment: its state, how long its
 * checkpoints are, and the MACs of the bytes that none of them covers.
 */

import type { OpenFile } from "../../../core/base/files.ts";
import { readSidecar, type SidecarLines } from "../../../trust/judge/inspect-sidecar.ts";
import {
  CHECKPOINT_BYTES_MAX,
  type Checkpoint,
  readCheckpoint,
} from "../../../trust/proof/checkpoint.ts";
import type { SignedFiles } from "../../../trust/signer/signed-log.ts";
import type { StreamState } from "../../commit/stream-state.ts";
import { mismatch } from "../../signing/stream-files.ts";
import type { Signable } from "../../signing/stream-log.ts";
import type { PostgresDatabase } from "../database.ts";
import { databaseError } from "../database-errors.ts";
import type { RowStreamReader } from "../stream-reader.ts";
import { COLUMNS, knownOf, pathKey, sidOf } from "../stream-row.ts";
import type { AppendedMac } from "./appended-macs.ts";

/** Read with one statement. */
const READ_BYTES = 256 * 1024;

/** A stream as it was at one moment. */
export interface LoadedStream {
  readonly state: StreamState;
  /** The length of its checkpoints. */
  readonly sidecarEnd: number;
  /** In order. */
  readonly unsigned: readonly AppendedMac[];
}

export class SigningRows {
  readonly #database: PostgresDatabase;
  readonly #reader: RowStreamReader;

  constructor(database: PostgresDatabase, reader: RowStreamReader) {
    this.#database = database;
    this.#reader = reader;
  }

  /** Null when the stream was deleted. */
  async load({ path, streamId }: Signable): Promise<LoadedStream | null> {
    const { schema } = this.#database;
    const [row] = await this.#read(
      `SELECT ${COLUMNS},
         (SELECT max(c."end") FROM ${schema}.checkpoints c WHERE c.sid = s.sid) AS checkpoints,
         (SELECT json_agg(json_build_array(u.start, u."end", encode(u.mac, 'hex')) ORDER BY u."end")
          FROM ${schema}.unsigned u WHERE u.sid = s.sid) AS unsigned
       FROM ${schema}.streams s WHERE key = $1`,
      [pathKey(path)],
    );
    const state = row === undefined ? null : knownOf(row).state;
    if (row === undefined || state?.streamId !== streamId || state.status === "deleted")
      return null;
    const sid = sidOf(state);
    const unsigned = ((row.unsigned ?? []) as [number, number, string][]).map(
      ([start, end, mac]) => ({ sid, start, end, mac: Buffer.from(mac, "hex") }),
    );
    return { state, sidecarEnd: Number(row.checkpoints ?? 0), unsigned };
  }

  /** Whole messages of the stream itself, from `at` of its own bytes on. */
  async read(state: StreamState, at: number): Promise<Buffer> {
    return this.#reader.read(state, state.base + at, READ_BYTES).catch((error: unknown) => {
      throw databaseError(this.#database.place, error);
    });
  }

  /** Checkpoints from `at` on. */
  async #checkpoints(state: StreamState, at: number): Promise<Buffer> {
    const { schema } = this.#database;
    const rows = await this.#read(
      `SELECT "end", bytes FROM ${schema}.checkpoints
       WHERE sid = $1 AND "end" > $2 ORDER BY "end" LIMIT 256`,
      [sidOf(state), at],
    );
    const parts: Buffer[] = [];
    let end = at;
    for (const { end: rowEnd, bytes } of rows as { end: string; bytes: Buffer }[]) {
      const skipped = end - (Number(rowEnd) - bytes.length);
      if (skipped < 0 || (skipped > 0 && parts.length > 0)) {
        throw mismatch(state.path, end, "some of its checkpoints are missing");
      }
      parts.push(bytes.subarray(skipped));
      end = Number(rowEnd);
    }
    return Buffer.concat(parts);
  }

  /** The last checkpoint, unverified; null if there is none, or it is none. */
  async lastCheckpoint(state: StreamState): Promise<Checkpoint | null> {
    const { schema } = this.#database;
    // Copied checkpoints may be cut anywhere.
    const rows = await this.#read(
      `SELECT substr(bytes, greatest(1, octet_length(bytes) - ${CHECKPOINT_BYTES_MAX + 1})) AS bytes
       FROM ${schema}.checkpoints WHERE sid = $1 ORDER BY "end" DESC LIMIT 2`,
      [sidOf(state)],
    );
    const lines = Buffer.concat(rows.map((row) => row.bytes as Buffer).reverse()).subarray(0, -1);
    return readCheckpoint(lines.subarray(lines.lastIndexOf("\n") + 1), "sidecar");
  }

  /** Its checkpoints, unverified. */
  async *checkpoints(of: Signable): SidecarLines["checkpoints"] {
    const loaded = await this.load(of);
    if (loaded !== null) yield* readSidecar(this.sidecar(loaded), of.path).checkpoints;
  }

  log({ state }: LoadedStream): OpenFile {
    return new RowsFile(state.end - state.base, (at) => this.read(state, at));
  }

  sidecar({ state, sidecarEnd }: LoadedStream): OpenFile {
    return new RowsFile(sidecarEnd, (at) => this.#checkpoints(state, at));
  }

  #read(text: string, values: readonly unknown[]) {
    return this.#database.read(text, values).catch((error: unknown) => {
      throw databaseError(this.#database.place, error);
    });
  }
}

/** The rows of one stream as files, to be verified. */
export class StreamRowFiles implements SignedFiles {
  readonly #rows: SigningRows;
  now: LoadedStream | null = null;

  constructor(rows: SigningRows) {
    this.#rows = rows;
  }

  async openLog(): Promise<OpenFile> {
    if (this.now === null) throw new TypeError("the stream was not loaded");
    return this.#rows.log(this.now);
  }

  async openSidecar(): Promise<OpenFile | null> {
    return this.now !== null && this.now.sidecarEnd > 0 ? this.#rows.sidecar(this.now) : null;
  }

  /** Checkpoints are committed with a group (signed-rows.ts). */
  async appendSidecar(): Promise<never> {
    throw new TypeError("checkpoints are written by a group");
  }
}

/** Rows of a table as a file that can only be read, for code that verifies files. */
class RowsFile implements OpenFile {
  readonly #size: number;
  readonly #fetch: (at: number) => Promise<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #pieceAt = 0;

  /** `fetch`: some bytes from `at` on, at least one. */
  constructor(size: number, fetch: (at: number) => Promise<Uint8Array>) {
    this.#size = size;
    this.#fetch = fetch;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    let done = 0;
    const wanted = Math.min(into.length, this.#size - at);
    while (done < wanted) {
      const skipped = at + done - this.#pieceAt;
      if (skipped < 0 || skipped >= this.#piece.length) {
        this.#piece = await this.#fetch(at + done);
        this.#pieceAt = at + done;
        if (this.#piece.length === 0) break;
        continue;
      }
      const some = this.#piece.subarray(skipped, skipped + wanted - done);
      into.set(some, done);
      done += some.length;
    }
    return done;
  }

  size(): number {
    return this.#size;
  }

  endsAt(size: number): boolean {
    return size === this.#size;
  }

  isLinked(): boolean {
    return true;
  }

  close(): void {}

  identity = onlyRead;
  write = onlyRead;
  landing = onlyRead;
  writeAt = onlyRead;
  sync = onlyRead;
  truncate = onlyRead;
  narrow = onlyRead;
  tryLock = onlyRead;
  unlock = onlyRead;
}

function onlyRead(): never {
  throw new TypeError("rows of a database can only be read here");
}
