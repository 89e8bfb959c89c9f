/** Check streams: compares the files in `logs/` with an index. */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import { type Finding, type FindingPlace, finding } from "../../core/findings/finding.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { StreamState } from "../../streams/commit/stream-state.ts";
import type { StreamIndex } from "../../streams/files/lookup/stream-index.ts";
import type { HandlePool } from "../../streams/files/reading/handle-pool.ts";
import { StreamReader } from "../../streams/files/reading/stream-reader.ts";
import { logFileName } from "../../streams/files/stream-path.ts";
import type { JournalRecord } from "../../streams/journal/journal-record.ts";
import { contradictions, type SignedClaims } from "../../streams/signing/signed-claims.ts";
import { checkpointsOf, isHeadIn } from "../../streams/signing/signed-history.ts";
import { sizeIfThere } from "../../trust/judge/verify.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { ExaminedItem } from "./examine.ts";

export interface CheckedStreamParts {
  readonly logs: Directory;
  readonly pool: HandlePool;
  /** The streams as of the last checkpoint. */
  readonly truth: StreamIndex;
  /** The journal's records after that; null if unknown. */
  readonly records: readonly JournalRecord[] | null;
  /** Whether acknowledged commits were lost, so that streams may be longer than they say. */
  readonly isBehind: boolean;
  readonly store: FoundStore;
}

const STREAMS_TOGETHER = 1000;
const READ_BYTES = 1024 * 1024;
/** Limit of damaged messages that are listed one by one. */
const DAMAGED_LISTED_MAX = 10;
const REMOVALS_MAX = 1_000_000;
const TORN = /\.torn-\d+$/;

export class CheckedStreamFiles {
  readonly #parts: CheckedStreamParts;
  readonly #reader: StreamReader;
  /** Files that belong to a stream. */
  readonly #known = new Set<string>();
  /** Files that the journal has bytes for: their length is not final. */
  readonly #unsettled = new Set<string>();
  /** Streams that the journal has records for. */
  readonly #unsettledPaths = new Set<string>();

  constructor(parts: CheckedStreamParts) {
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

  async *check(): AsyncGenerator<ExaminedItem> {
    const { truth, store } = this.#parts;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const states: readonly StreamState[] = truth.keptStreams(after, STREAMS_TOGETHER);
      for (const state of states) {
        const path = this.#pathOf(state.file);
        yield { session: { ...store, id: state.path, path } };
        let isSound = !this.#parts.isBehind;
        for await (const found of this.#stream(state, path)) {
          isSound = false;
          yield { finding: found };
        }
        for (const found of this.#foreign(state, path, isSound)) yield { finding: found };
      }
      after = states.at(-1)?.path;
    }
    if (this.#parts.records === null) return;
    for (const found of this.#orphans()) yield { finding: found };
  }

  async *#stream(state: StreamState, path: string): AsyncGenerator<Finding> {
    const { path: session, file, base, end, fork } = state;
    const at = { session, path };
    this.#known.add(file);
    if (!isNameOf(state)) yield finding("NAME_WRONG", at, `it is not the name of ${session}`);
    if (fork !== null) {
      const source = this.#parts.truth.stream(fork.source);
      if (source === null || source.status === "deleted" || source.end < base) {
        const message = `it begins in ${fork.source}, which has not that much`;
        yield finding("SOURCE_MISSING", at, message);
      }
    }
    const size = this.#sizeOf(file);
    yield* this.#signed(state, size ?? 0);
    const expected = end - base;
    if (size === null) {
      if (expected > 0) yield finding("FILE_MISSING", at, "it is gone");
      return;
    }
    if (size < expected) {
      const is = `it has ${size} bytes, and ${expected} were appended`;
      yield finding("FILE_TOO_SHORT", { ...at, offset: size }, is);
    }
    yield* this.#bytes(state, at, Math.min(size, expected) + base);
  }

  /** Repair moves bytes after the end if they are certainly another program's. */
  *#foreign({ path: session, file, base, end }: StreamState, path: string, isSound: boolean) {
    const [size, expected] = [this.#sizeOf(file) ?? 0, end - base];
    if (size <= expected || this.#isUnsettled(file)) return;
    const at = { session, path, offset: expected, ...(isSound ? {} : { mends: false as const }) };
    yield finding("FILE_TOO_LONG", at, `it has ${size} bytes, and ${expected} were appended`);
  }

  /** While the journal has records for a stream, its checkpoints may be ahead of `meta.jsonl`. */
  async *#signed(state: StreamState, size: number): AsyncGenerator<Finding> {
    const { logs, truth, records } = this.#parts;
    const source = state.fork === null ? null : truth.stream(state.fork.source);
    const paths = [state.path, source?.path ?? state.path];
    if (records === null || paths.some((path) => this.#unsettledPaths.has(path))) return;
    yield* checkSigned(logs, state, size, source);
  }

  /**
   * Reads everything up to an offset in large pieces; a damaged piece is read message by message.
   */
  async *#bytes(state: StreamState, at: FindingPlace, upTo: number): AsyncGenerator<Finding> {
    let damaged = 0;
    for (let from = state.base; from < upTo; ) {
      try {
        from += (await this.#reader.read(state, from, READ_BYTES)).length;
        continue;
      } catch (cause) {
        if (!(cause instanceof VerbatimError)) throw cause;
      }
      let end = from;
      for (const { start, length, isDamaged } of await this.#messages(state, from)) {
        end = start + length;
        if (!isDamaged || end > upTo || ++damaged > DAMAGED_LISTED_MAX) continue;
        const message = `the ${length} bytes from ${start} are not what was appended`;
        yield finding("BYTES_DAMAGED", { ...at, offset: start - state.base }, message);
      }
      if (end === from) return; // The file ends here.
      from = end;
    }
    if (damaged <= DAMAGED_LISTED_MAX) return;
    const message = `${damaged - DAMAGED_LISTED_MAX} more messages are not what was appended`;
    yield finding("BYTES_DAMAGED", at, message);
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

  *#orphans(): Generator<Finding> {
    const { logs, truth } = this.#parts;
    for (const file of truth.removals(Number.MAX_SAFE_INTEGER, REMOVALS_MAX)) this.#known.add(file);
    for (const file of this.#unsettled) this.#known.add(file);
    for (const name of logs.names().sort()) {
      const own = name.replace(TORN, "");
      if (this.#known.has(own)) continue;
      if (own.endsWith(sidecarOf("")) && this.#known.has(own.slice(0, -sidecarOf("").length))) {
        continue;
      }
      yield finding("ORPHAN", { session: null, path: this.#pathOf(name) }, "it is no stream's");
    }
  }

  #pathOf(file: string): string {
    return `${this.#parts.logs.path}/${file}`;
  }

  #sizeOf(file: string): number | null {
    return sizeIfThere(this.#parts.logs, file);
  }
}

function isNameOf({ path, file, isJson, readSeq }: StreamState): boolean {
  try {
    return logFileName(path, readSeq, isJson) === file;
  } catch {
    return false; // No stream can have this path.
  }
}

/**
 * Compares what `meta.jsonl` says about a stream with its checkpoints. Their signatures are taken
 * as correct here: verify-directory.ts checks them. `fileBytes` is the length of the stream's own
 * file; `source` the stream that a fork begins in.
 */
export async function* checkSigned(
  logs: Directory,
  state: StreamState,
  fileBytes: number,
  source: StreamState | null,
): AsyncGenerator<Finding> {
  const said = await claimsIn(logs, state.file);
  if (said === null) return;
  const at = { session: state.path, path: `${logs.path}/${state.file}` };
  for (const { code, verdict, message } of contradictions(state, said, fileBytes)) {
    // The length of the file is already reported; an unsigned closing is not damage.
    const isNew = verdict !== "incomplete" && !(code === "END_MISMATCH" && fileBytes < said.bytes);
    if (isNew) yield finding("SIGNED_OTHERWISE", at, message);
  }
  const { from } = said;
  if (from === null || source === null || (await isHeadIn(checkpointsOf(logs, source.file), from)))
    return;
  const message = `its genesis names a checkpoint that ${source.path}, in which it begins, has not`;
  yield finding("SIGNED_OTHERWISE", at, message);
}

/** The claims of a stream's checkpoints; null without any. */
async function claimsIn(logs: Directory, file: string): Promise<SignedClaims | null> {
  let from: SignedHead | null = null;
  let isFinal = false;
  let bytes: number | null = null;
  for await (const { checkpoint } of checkpointsOf(logs, file)) {
    const { kind, byteOffset } = checkpoint;
    if (kind === "genesis") from = checkpoint.from;
    isFinal ||= kind === "final";
    bytes = byteOffset;
  }
  return bytes === null ? null : { from, isFinal, bytes };
}
