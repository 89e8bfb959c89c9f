/** Check index: the differences between two indexes of one store, both up to date. */

import { type Finding, finding } from "../findings/finding.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import type { StreamIndex } from "../streams/lookup/stream-index.ts";

const STREAMS_TOGETHER = 1000;
const MESSAGES_TOGETHER = 5000;

/** `path` is that of the index that is examined. */
export function* differencesOf(
  truth: StreamIndex,
  index: StreamIndex,
  path: string,
): Generator<Finding> {
  const differs = (what: string, session: string | null) =>
    finding("INDEX_DIFFERS", { session, path }, what);
  for (let after = ""; ; ) {
    const expected = truth.keptStreams(after, STREAMS_TOGETHER);
    const found = index.keptStreams(after, STREAMS_TOGETHER);
    const paths = new Set([...expected, ...found].map(({ path }) => path));
    if (paths.size === 0) break;
    const [own, other] = [byPath(expected), byPath(found)];
    // Entries past the end of the shorter page cannot be compared yet.
    const last = [expected, found]
      .filter((page) => page.length === STREAMS_TOGETHER)
      .map((page) => page.at(-1)?.path ?? "")
      .sort()[0];
    const page = [...paths].sort().filter((path) => last === undefined || path <= last);
    for (const stream of page) {
      const [a, b] = [own.get(stream), other.get(stream)];
      if (a === undefined) yield differs(`it has ${stream}, which is no stream`, stream);
      else if (b === undefined) yield differs(`it has no ${stream}`, stream);
      else if (said(a) !== said(b)) yield differs(`it says otherwise of ${stream}`, stream);
      else if (!hasSameMessages(truth, index, a)) {
        yield differs(`it says otherwise of the messages of ${stream}`, stream);
      }
    }
    after = page.at(-1) ?? "";
  }
  if (textOf(truth.records("")) !== textOf(index.records(""))) {
    yield differs("it has other records of the server", null);
  }
}

function byPath(states: readonly StreamState[]): Map<string, StreamState> {
  return new Map(states.map((state) => [state.path, state]));
}

/** The last use of a stream is written to the index first, and to `meta.jsonl` later. */
function said(state: StreamState): string {
  return JSON.stringify({ ...state, touchedAtMs: 0 });
}

function hasSameMessages(truth: StreamIndex, index: StreamIndex, stream: StreamState): boolean {
  const { path, base, end } = stream;
  for (let from = base; from < end; ) {
    const expected = truth.messages(stream, from, end, MESSAGES_TOGETHER);
    const found = index.messages(stream, from, end, MESSAGES_TOGETHER);
    if (JSON.stringify(expected) !== JSON.stringify(found)) return false;
    from = expected.at(-1)?.end ?? end;
  }
  return JSON.stringify(truth.blocks(path, 0, end)) === JSON.stringify(index.blocks(path, 0, end));
}

function textOf(records: ReadonlyMap<string, string>): string {
  return JSON.stringify([...records]);
}
