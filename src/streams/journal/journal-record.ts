/**
 * Journal records: the changes of streams, as stored in the journal.
 *
 * A header line of JSON, then the raw bytes, then an LF. Format: docs/formats/streams.md,
 * "Journal". Writing and syncing is `journal.ts`.
 *
 * A record is a decision, not a request: applying it decides nothing, and the place of its bytes
 * depends on no other record. The crc32 covers the header and the bytes, and starts with the
 * segment's salt: posted bytes are never taken for a record.
 */

import { crc32 } from "node:zlib";
import { LF } from "../../core/log/bytes.ts";
import type { ForkPoint } from "../commit/stream-state.ts";
import type { Lifetime, ProducerTurn } from "../files/stream-store.ts";

/** Bytes for a stream's file: complete messages, of these lengths. */
interface Content {
  readonly file: string;
  /** Their offset in the file, and in the stream. */
  readonly pos: number;
  readonly from: number;
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

export interface CreateOp extends Content {
  readonly op: "create";
  readonly path: string;
  readonly at: number;
  readonly streamId: string;
  readonly readSeq: number;
  readonly contentType: string;
  readonly isJson: boolean;
  readonly lifetime: Lifetime;
  readonly inheritsLifetime: boolean;
  readonly fork: ForkPoint | null;
  readonly close: boolean;
}

export interface AppendOp extends Content {
  readonly op: "append";
  readonly path: string;
  readonly at: number;
  readonly producer: ProducerTurn | null;
  readonly streamSeq: string | null;
  readonly close: boolean;
}

export interface DeleteOp {
  readonly op: "delete";
  readonly path: string;
  readonly at: number;
  /** Streams that are no longer needed, and their files; none while forks hold it. */
  readonly ended: readonly string[];
  readonly files: readonly string[];
  /** The source of the last of them, which continues. */
  readonly released: string | null;
}

export interface RecordOp {
  readonly op: "record";
  readonly key: string;
  readonly value: string | null;
}

/** Checkpoints of a signed stream: complete lines for its sidecar file. */
export interface SignOp {
  readonly op: "sign";
  readonly path: string;
  /** The sidecar file, and the offset in it. */
  readonly file: string;
  readonly pos: number;
  readonly bytes: Uint8Array;
}

export type Op = CreateOp | AppendOp | DeleteOp | RecordOp | SignOp;

export interface JournalRecord {
  readonly lsn: number;
  /** The lsn of the first record of the same batch. */
  readonly batch: number;
  readonly op: Op;
}

export type DecodedRecord =
  | { readonly record: JournalRecord; readonly next: number }
  /** There is no valid record here. */
  | { readonly record: null; readonly reason: string };

const NO_BYTES = new Uint8Array(0);
const CRC_START = ',"crc":"';
const CRC_LENGTH = ',"crc":"00000000"}'.length;

/** Collects the records of one batch in a buffer that is reused. */
export class RecordBuffer {
  #bytes: Buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Only the first `length` bytes count. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** A buffer that one large batch needed is not kept. */
  clear(): void {
    if (this.#bytes.length > 4 * 1024 * 1024) this.#bytes = Buffer.allocUnsafe(64 * 1024);
    this.#length = 0;
  }

  add(lsn: number, batch: number, op: Op, seed: number): void {
    const payload = payloadOf(op);
    const header = headerOf(lsn, batch, op, payload.length);
    // A character takes at most three bytes of UTF-8.
    this.#makeRoom(3 * header.length + CRC_LENGTH + payload.length + 2);
    const start = this.#length;
    const bytes = this.#bytes;
    let at = start + bytes.write(header, start, "utf8");
    const crc = crcOf(payload, crcOf(bytes.subarray(start, at), seed));
    at += bytes.write(`${CRC_START}${hex(crc)}"}\n`, at, "latin1");
    bytes.set(payload, at);
    at += payload.length;
    bytes[at] = LF;
    this.#length = at + 1;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The record that begins at `at`. */
export function decodeRecord(bytes: Buffer, at: number, seed: number): DecodedRecord {
  const headerEnd = bytes.indexOf(LF, at);
  if (headerEnd === -1) return none("its header does not end");
  const crcAt = headerEnd - CRC_LENGTH;
  if (crcAt <= at) return none("its header is too short");
  const crcText = crcTextOf(bytes.toString("latin1", crcAt, headerEnd));
  if (crcText === null) return none("its header has no crc");
  const header = parsedHeader(bytes, at, crcAt);
  if (header === null) return none("its header is not JSON");
  const length = header.bytes;
  const payloadAt = headerEnd + 1;
  if (typeof length !== "number" || !(length >= 0) || payloadAt + length >= bytes.length) {
    return none("some of its bytes are missing");
  }
  const payload = bytes.subarray(payloadAt, payloadAt + length);
  const crc = crcOf(payload, crcOf(bytes.subarray(at, crcAt), seed));
  if (hex(crc) !== crcText) return none("its crc differs");
  if (bytes[payloadAt + length] !== LF) return none("no LF ends it");
  const record = {
    lsn: Number(header.lsn),
    batch: Number(header.batch),
    op: opOf(header, payload),
  };
  return { record, next: payloadAt + length + 1 };
}

/** By hand: there may be very many records. Invalid digits fail in the comparison. */
function crcTextOf(text: string): string | null {
  if (!text.startsWith(CRC_START) || !text.endsWith('"}')) return null;
  return text.slice(CRC_START.length, -2);
}

function none(reason: string): DecodedRecord {
  return { record: null, reason };
}

function parsedHeader(bytes: Buffer, from: number, to: number): Record<string, unknown> | null {
  try {
    return JSON.parse(`${bytes.toString("utf8", from, to)}}`) as Record<string, unknown>;
  } catch {
    return null; // The caller decides what that means.
  }
}

function payloadOf(op: Op): Uint8Array {
  if (op.op === "create" || op.op === "append" || op.op === "sign") return op.bytes;
  return op.op === "record" && op.value !== null ? Buffer.from(op.value) : NO_BYTES;
}

/** Without its closing brace: the crc comes before it. */
function headerOf(lsn: number, batch: number, op: Op, bytes: number): string {
  const start = `{"lsn":${lsn},"batch":${batch},"op":"${op.op}"`;
  const end = `,"bytes":${bytes}`;
  switch (op.op) {
    case "append":
      return start + appendFields(op) + end;
    case "create":
      return start + createFields(op) + end;
    case "delete":
      return start + deleteFields(op) + end;
    case "sign":
      return `${start}${placeFields(op)}${end}`;
    case "record":
      return `${start},"key":${JSON.stringify(op.key)},"isSet":${op.value !== null}${end}`;
  }
}

/** By hand: serialising an object costs several times as much, and this runs once per append. */
function appendFields(op: AppendOp): string {
  const { producer } = op;
  return (
    contentFields(op) +
    (producer === null
      ? ""
      : `,"p":[${JSON.stringify(producer.id)},${producer.epoch},${producer.seq}]`) +
    (op.streamSeq === null ? "" : `,"sseq":${JSON.stringify(op.streamSeq)}`) +
    (op.close ? ',"close":true' : "")
  );
}

function createFields(op: CreateOp): string {
  const { streamId, readSeq, contentType, isJson, lifetime, inheritsLifetime, fork, close } = op;
  const config = {
    streamId,
    readSeq,
    contentType,
    isJson,
    lifetime,
    inheritsLifetime,
    fork,
    close,
  };
  return `${contentFields(op)},"stream":${JSON.stringify(config)}`;
}

function deleteFields({ path, at, ended, files, released }: DeleteOp): string {
  return `,${JSON.stringify({ path, at, ended, files, released }).slice(1, -1)}`;
}

function placeFields({ path, file, pos }: SignOp): string {
  return `,${JSON.stringify({ path, file, pos }).slice(1, -1)}`;
}

function contentFields(op: CreateOp | AppendOp): string {
  return (
    `,"path":${JSON.stringify(op.path)},"at":${op.at},"file":${JSON.stringify(op.file)}` +
    `,"pos":${op.pos},"from":${op.from},"lens":[${op.lengths.join(",")}]`
  );
}

/** Decodes a header whose crc is right: we wrote it, so its fields are valid. */
function opOf(header: Record<string, unknown>, payload: Buffer): Op {
  const path = header.path as string;
  const at = header.at as number;
  switch (header.op) {
    case "delete":
      return {
        op: "delete",
        path,
        at,
        ended: header.ended as string[],
        files: header.files as string[],
        released: header.released as string | null,
      };
    case "sign": {
      const file = header.file as string;
      return { op: "sign", path, file, pos: header.pos as number, bytes: payload };
    }
    case "record": {
      const value = header.isSet === true ? payload.toString() : null;
      return { op: "record", key: header.key as string, value };
    }
  }
  const content = {
    path,
    at,
    file: header.file as string,
    pos: header.pos as number,
    from: header.from as number,
    lengths: header.lens as number[],
    bytes: payload,
  };
  if (header.op === "create") {
    const stream = header.stream as Omit<CreateOp, keyof Content | "op" | "path" | "at">;
    return { op: "create", ...content, ...stream };
  }
  const turn = header.p as [string, number, number] | undefined;
  return {
    op: "append",
    ...content,
    producer: turn === undefined ? null : { id: turn[0], epoch: turn[1], seq: turn[2] },
    streamSeq: (header.sseq as string | undefined) ?? null,
    close: header.close === true,
  };
}

/**
 * The checksum of stored bytes, continued from piece to piece.
 *
 * For an empty array whose `buffer` was accessed, Node (20.20) passes zlib a null pointer, which
 * zlib takes for "start again": the checksum so far would be lost. So it is not called for empty
 * arrays.
 */
export function crcOf(bytes: Uint8Array | string, before = 0): number {
  return bytes.length === 0 ? before : crc32(bytes, before);
}

/** Eight digits, so that a crc has one spelling. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}
