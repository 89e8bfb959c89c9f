/**
 * Check tables: compares the messages of every stream with its row and with their checksums, in one
 * snapshot. Writes nothing, and does not disturb running servers. Signatures are checked by
 * `verbatim verify`.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { type Finding, type FindingPlace, finding } from "../../core/findings/finding.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { PostgresSource } from "./postgres-source.ts";

/** Limit of damaged messages that are listed one by one. */
const DAMAGED_LISTED_MAX = 10;

/** A stream, then its findings; findings without a stream last. */
export type CheckedStream = { readonly stream: string } | { readonly finding: Finding };

export async function* checkTables(source: PostgresSource): AsyncGenerator<CheckedStream> {
  const states = new Map<string, StreamState>();
  for await (const state of source.streams("")) {
    if (state.status !== "deleted") states.set(state.path, state);
  }
  for (const state of states.values()) {
    yield { stream: state.path };
    const at = { session: state.path, path: source.table };
    const parent = states.get(state.fork?.source ?? "");
    if (state.base > 0 && (parent === undefined || parent.end < state.base)) {
      const message = `it begins in ${state.fork?.source}, which has not that much`;
      yield { finding: finding("SOURCE_MISSING", at, message) };
    }
    for await (const each of messagesOf(source, state, at)) yield { finding: each };
  }
  for (const sid of await source.orphans()) {
    const at = { session: null, path: source.table };
    yield { finding: finding("ORPHAN", at, `messages with the id ${sid} are no stream's`) };
  }
}

async function* messagesOf(
  source: PostgresSource,
  state: StreamState,
  where: FindingPlace,
): AsyncGenerator<Finding> {
  const { base, end } = state;
  const wrong = (code: "FILE_MISSING" | "FILE_TOO_SHORT" | "FILE_TOO_LONG", at: number) => {
    const is = `there are ${at - base} bytes, and ${end - base} were appended`;
    return finding(code, { ...where, offset: Math.min(at, end) - base, mends: false }, is);
  };
  let damaged = 0;
  let at = base;
  try {
    for (let rows = await source.stored(state, base); rows.length > 0; ) {
      for (const { end: to, bytes, isSound } of rows) {
        const start = to - bytes.length;
        const what = start > at ? `bytes ${at} to ${start} are missing` : null;
        const isWrong = !isSound || start !== at;
        at = to;
        if (!isWrong || ++damaged > DAMAGED_LISTED_MAX) continue;
        const message = what ?? `the ${bytes.length} bytes from ${start} are not what was appended`;
        yield finding("BYTES_DAMAGED", { ...where, offset: start - base }, message);
      }
      rows = await source.stored(state, at);
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "STREAM_DAMAGED")) throw cause;
    yield finding("BYTES_DAMAGED", { ...where, offset: at - base }, "a page cannot be read");
    return;
  }
  if (damaged > DAMAGED_LISTED_MAX) {
    const message = `${damaged - DAMAGED_LISTED_MAX} more messages are not what was appended`;
    yield finding("BYTES_DAMAGED", where, message);
  }
  if (at === base && end > base) yield wrong("FILE_MISSING", at);
  else if (at < end) yield wrong("FILE_TOO_SHORT", at);
  else if (at > end) yield wrong("FILE_TOO_LONG", at);
}
