/**
 * History: the lines that count in a session of the dialect `sdk`, read from its end.
 *
 * - Lines that were written together count together, or not at all: if the last of them is
 *   missing, they were never acknowledged.
 * - A line may name the line that it must follow. If another counting line is in between, it came
 *   too late: it does not count, and neither do those written with it. Such lines block no other
 *   writer, so when several rewrite a history at once, one always succeeds.
 * - Undone items are skipped, however often items were undone and added again.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { partOf } from "../../dialects/verbatim/line.ts";
import type { Session } from "../../sessions/store/session.ts";

/** What surely fits one write: the rest is for the fields added to each line, and for signing. */
export const TOGETHER_BYTES_MAX = LOG_LIMITS.batchBytesMax - 256 * 1024;
/** Id, time, part. */
const ADDED_BYTES = 200;

/**
 * Writes lines together, so that they count together.
 *
 * Resolves, once they are durable, to the offset after the last. Refuses with BATCH_TOO_LARGE.
 */
export async function appendTogether(
  session: Session,
  lines: readonly HistoryLine[],
): Promise<ByteOffset> {
  const of = lines.length;
  const bytes = lines.reduce((sum, line) => sum + sizeOf(line), 0);
  if (of > 1 && bytes > TOGETHER_BYTES_MAX) {
    throw new VerbatimError(
      "BATCH_TOO_LARGE",
      `${of} lines for ${session.path} are ${bytes} bytes, and ${TOGETHER_BYTES_MAX} can be ` +
        `written together; pass fewer at once`,
      { path: session.path, bytes, bytesMax: TOGETHER_BYTES_MAX },
    );
  }
  const parts = of === 1 ? lines : lines.map((line, n) => ({ ...line, part: [n + 1, of] }));
  return (await session.appendLines(parts)).at(-1) as ByteOffset;
}

/** Splits lines into as few groups as possible that can be written together. */
export function* inGroups(lines: readonly HistoryLine[]): Generator<readonly HistoryLine[]> {
  let group: HistoryLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = sizeOf(line);
    if (group.length > 0 && bytes + size > TOGETHER_BYTES_MAX) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(line);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** An upper bound; a value without JSON is refused when it is appended. */
function sizeOf(line: HistoryLine): number {
  try {
    return Buffer.byteLength(JSON.stringify(line)) + ADDED_BYTES;
  } catch {
    return 0;
  }
}

/** A parsed line. */
export type HistoryLine = Readonly<Record<string, unknown>>;

/** In `after`: the line must be the first. */
export const AT_START = "start";

export interface Look {
  /** The line types of this integration; all others are skipped. */
  readonly types: readonly string[];
  /** Only lines before this offset. Default: all. */
  readonly to?: ByteOffset;
}

/** The lines that count, the last one first. */
export async function* countedLines(session: Session, look: Look): AsyncGenerator<HistoryLine> {
  /**
   * Groups that name the line they must follow, which was not reached yet; the last one first
   *.
   */
  let unsettled: Group[] = [];
  for await (const group of groupsBackward(session, look)) {
    const isNamed = unsettled.some((later) => later.at(-1)?.after === group[0]?.id);
    // Its writer had read that it counts.
    if (group.at(-1)?.after !== undefined && !isNamed) {
      unsettled.push(group);
      continue;
    }
    yield* inTime(unsettled, group[0]?.id);
    unsettled = [];
    yield* group;
  }
  yield* inTime(unsettled, AT_START);
}

/** Lines that were written together, the last one first. */
type Group = readonly HistoryLine[];

/** Of groups between two counting lines, those that came in time. */
function inTime(groups: readonly Group[], counts: unknown): HistoryLine[] {
  let last = counts;
  const kept: Group[] = [];
  for (const group of groups.toReversed()) {
    if (group.at(-1)?.after !== last) continue;
    kept.unshift(group);
    last = group[0]?.id;
  }
  return kept.flat();
}

async function* groupsBackward(session: Session, look: Look): AsyncGenerator<Group> {
  let group: HistoryLine[] = [];
  for await (const line of linesBackward(session, look)) {
    const [n, of] = partOf(line);
    const [nextN, nextOf] = partOf(group.at(-1) ?? {});
    const isOfGroup = group.length > 0 && of === nextOf && n === nextN - 1;
    if (!isOfGroup) group = [];
    if (!isOfGroup && n !== of) continue; // The last of them is missing.
    group.push(line);
    if (n > 1) continue;
    yield group;
    group = [];
  }
}

/** The last lines of one type that count and were not undone, in order. */
export async function lastLines(
  session: Session,
  look: Look & {
    readonly type: string;
    readonly limit?: number;
    /** The id of a line to skip. */
    readonly skip?: string;
  },
): Promise<HistoryLine[]> {
  const { type, limit = Number.POSITIVE_INFINITY, skip } = look;
  const said: HistoryLine[] = [];
  if (limit <= 0) return said;
  let back = 0;
  for await (const line of countedLines(session, look)) {
    if (line.id === skip) continue;
    if (line.type === "clear") break;
    if (line.type === "pop") back += line.count as number;
    if (line.type !== type) continue;
    if (back > 0) back--;
    else if (said.push(line) >= limit) break;
  }
  return said.reverse();
}

/**
 * This integration's lines from the end, whether they count or not. None when there is no session
 * yet.
 */
export async function* linesBackward(
  session: Session,
  { types, to }: Look,
): AsyncGenerator<HistoryLine> {
  let bad = 0;
  const reader = session.reader({ onBadLine: () => bad++ });
  try {
    for await (const { value } of reader.backward(to === undefined ? {} : { to })) {
      const { entry } = session.dialect.reading.decode(value);
      if (entry === null) bad++;
      else if (types.includes(entry.native.type as string)) yield entry.native;
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError) || cause.code !== "LOG_NOT_FOUND") throw cause;
  } finally {
    if (bad > 0) warn(session, bad);
  }
}

function warn({ path }: Session, bad: number): void {
  const lines = bad === 1 ? "1 bad line was" : `${bad} bad lines were`;
  process.emitWarning(
    `${lines} skipped in ${path}; \`verbatim doctor\` says which`,
    "VerbatimWarning",
  );
}
