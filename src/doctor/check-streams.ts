/** Check streams: compares the files in `logs/` with an index. */

import { errnoOf, VerbatimError } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import { type CheckFinding, damage } from "../findings/check-finding.ts";
import { sidecarOf } from "../signing/session-log.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import type { JournalRecord } from "../streams/journal/journal-record.ts";
import type { StreamIndex } from "../streams/lookup/stream-index.ts";
import type { HandlePool } from "../streams/reading/handle-pool.ts";
import { StreamReader } from "../streams/reading/stream-reader.ts";
import { logFileName } from "../streams/stream-path.ts";
import { checkSigned } from "../verifying/check-signed.ts";

export interface StreamFilesParts {
  readonly logs: Directory;
  readonly pool: HandlePool;
  /** The streams as of the last checkpoint. */
  readonly truth: StreamIndex;
  /** The journal's records after that; null if unknown. */
  readonly records: readonly JournalRecord[] | null;
  readonly onProgress: (streams: number) => void;
}

const STREAMS_TOGETHER = 1000;
const READ_BYTES = 1024 * 1024;
/** Limit of damaged messages that are listed one by one. */
const DAMAGED_LISTED_MAX = 10;
const REMOVALS_MAX = 1_000_000;
const TORN = /\.torn-\d+$/;

export class StreamFiles {
  readonly #parts: StreamFilesParts;
  readonly #reader: StreamReader;
  /** Files that belong to a stream. */
  readonly #known = new Set<string>();
  /** Files that the journal has bytes for: their length is not final. */
  readonly #unsettled = new Set<string>();
  /** Streams that the journal has records for. */
  readonly #unsettledPaths = new Set<string>();

  constructor(parts: StreamFilesParts) {
    const { truth, pool, logs, records } = parts;
    this.#parts = parts;
    this.#reader = new StreamReader(truth, pool, logs.path, (path) => truth.stream(path));
    for (const { op } of records ?? []) {
      if (op.op !== "record") this.#unsettledPaths.add(op.path);
      if (op.op === "append" || op.op === "create" || op.op === "sign") {
        this.#unsettled.add(op.file);
      }
      if (op.op === "delete") for (const file of op.files) this.#unsettled.add(file);
    }
  }

  async *check(): AsyncGenerator<CheckFinding> {
    const { truth, onProgress } = this.#parts;
    let count = 0;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const states: readonly StreamState[] = truth.keptStreams(after, STREAMS_TOGETHER);
      for (const state of states) {
        yield* this.#stream(state);
        onProgress(++count);
      }
      after = states.at(-1)?.path;
    }
    if (this.#parts.records !== null) yield* this.#orphans();
  }

  async *#stream(state: StreamState): AsyncGenerator<CheckFinding> {
    const { path: stream, file, base, end, fork } = state;
    this.#known.add(file);
    if (!isNameOf(state)) {
      yield damage("NAME_WRONG", `logs/${file}`, `it is not the name of ${stream}`, { stream });
    }
    if (fork !== null) {
      const source = this.#parts.truth.stream(fork.source);
      if (source === null || source.status === "deleted" || source.end < base) {
        const message = `it begins in ${fork.source}, which has not that much`;
        yield damage("SOURCE_MISSING", `logs/${file}`, message, { stream });
      }
    }
    const size = this.#sizeOf(file);
    yield* this.#signed(state, size ?? 0);
    const expected = end - base;
    if (size === null) {
      if (expected > 0) yield damage("FILE_MISSING", `logs/${file}`, "it is gone", { stream });
      return;
    }
    const is = `it has ${size} bytes, and ${expected} were appended`;
    if (size < expected) {
      yield damage("FILE_TOO_SHORT", `logs/${file}`, is, { stream, offset: size });
    } else if (size > expected && !this.#isUnsettled(file)) {
      yield damage("FILE_TOO_LONG", `logs/${file}`, is, { stream, offset: expected });
    }
    yield* this.#bytes(state, Math.min(size, expected) + base);
  }

  /** While the journal has records for a stream, its checkpoints may be ahead of `meta.jsonl`. */
  async *#signed(state: StreamState, size: number): AsyncGenerator<CheckFinding> {
    const { logs, truth, records } = this.#parts;
    const source = state.fork === null ? null : truth.stream(state.fork.source);
    const paths = [state.path, source?.path ?? state.path];
    if (records === null || paths.some((path) => this.#unsettledPaths.has(path))) return;
    yield* checkSigned(logs, state, size, source);
  }

  /**
   * Reads everything up to an offset in large pieces; a damaged piece is read message by message.
   */
  async *#bytes(state: StreamState, upTo: number): AsyncGenerator<CheckFinding> {
    let damaged = 0;
    for (let at = state.base; at < upTo; ) {
      try {
        at += (await this.#reader.read(state, at, READ_BYTES)).length;
        continue;
      } catch (cause) {
        if (!(cause instanceof VerbatimError)) throw cause;
      }
      let end = at;
      for (const { start, length, isDamaged } of await this.#messages(state, at)) {
        end = start + length;
        if (!isDamaged || end > upTo || ++damaged > DAMAGED_LISTED_MAX) continue;
        const message = `the ${length} bytes from ${start} are not what was appended`;
        const where = { stream: state.path, offset: start - state.base };
        yield damage("BYTES_DAMAGED", `logs/${state.file}`, message, where);
      }
      if (end === at) return; // The file ends here.
      at = end;
    }
    if (damaged <= DAMAGED_LISTED_MAX) return;
    const message = `${damaged - DAMAGED_LISTED_MAX} more messages are not what was appended`;
    yield damage("BYTES_DAMAGED", `logs/${state.file}`, message, { stream: state.path });
  }

  /** Some messages from an offset on; none if they cannot be read at all. */
  async #messages(state: StreamState, from: number) {
    try {
      const found = await this.#reader.messages(state, from);
      const pointers = this.#parts.truth.messages(state, from, state.end, found.length);
      return pointers.map(({ end, length }, n) => {
        return { start: end - length, length, isDamaged: found[n]?.damage !== null };
      });
    } catch (cause) {
      if (cause instanceof VerbatimError) return [];
      throw cause;
    }
  }

  #isUnsettled(file: string): boolean {
    return this.#parts.records === null || this.#unsettled.has(file);
  }

  *#orphans(): Generator<CheckFinding> {
    const { logs, truth } = this.#parts;
    for (const file of truth.removals(Number.MAX_SAFE_INTEGER, REMOVALS_MAX)) this.#known.add(file);
    for (const file of this.#unsettled) this.#known.add(file);
    for (const name of logs.names().sort()) {
      const own = name.replace(TORN, "");
      if (this.#known.has(own)) continue;
      if (own.endsWith(sidecarOf("")) && this.#known.has(own.slice(0, -sidecarOf("").length))) {
        continue;
      }
      yield damage("ORPHAN", `logs/${name}`, "it is no stream's; move it elsewhere");
    }
  }

  #sizeOf(file: string): number | null {
    try {
      const open = this.#parts.logs.open(file, "read");
      const size = open.size();
      open.close();
      return size;
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return null;
      throw cause;
    }
  }
}

function isNameOf({ path, file, isJson, readSeq }: StreamState): boolean {
  try {
    return logFileName(path, readSeq, isJson) === file;
  } catch {
    return false; // No stream can have this path.
  }
}
