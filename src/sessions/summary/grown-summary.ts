/**
 * Grown summary: the summary of a session that is at work, from what was kept of its earlier lines and
 * the lines that came since.
 *
 * - Only for programs that append to their files. The earlier lines are taken as unchanged if the
 *   first and the last kilobyte of them are, as for the search index.
 */

import type { Host } from "../../core/base/host.ts";
import type { Summary } from "../../core/model/summary.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import { markOf, SessionWindow } from "../list/session-window.ts";
import type { Store } from "../store/store.ts";
import { SummaryLines, type SummaryLinesState } from "./summary-lines.ts";

/** Lines of a session up to an offset, as JSON. */
export interface KeptSummary {
  readonly to: number;
  readonly mark: string;
  readonly lines: SummaryLinesState;
  /** The dialect's memory of earlier lines, if it has one. */
  readonly memory?: unknown;
}

export interface GrownSummary {
  readonly summary: Summary;
  /** Null if the session cannot be continued. */
  readonly kept: KeptSummary | null;
}

const PIECE = { entriesMax: 8_192, bytesMax: 4 * 2 ** 20 };

/** Null if more than `bytesMax` would have to be read. */
export async function grownSummary(
  host: Host,
  store: Store,
  { id }: Pick<FoundLog, "id">,
  before: KeptSummary | undefined,
  bytesMax: number,
): Promise<GrownSummary | null> {
  const session = store.session(id);
  const { dialect } = session;
  const window = await SessionWindow.open(host, session);
  try {
    const { log, end } = window;
    const isGrowing = dialect.program?.changes === "grows";
    const isSame =
      isGrowing && before && before.to <= end && (await markOf(log, before.to)) === before.mark;
    const from = isSame ? before : undefined;
    const start = from?.to ?? 0;
    if (end - start > bytesMax) return null;
    const lines = new SummaryLines(dialect, store.root, id, from?.lines);
    const memory = dialect.reading.remembers?.(from?.memory);
    for (let at = start; at < end; ) {
      const piece = await window.after(at, PIECE, memory);
      for (const { entry } of piece) {
        if (entry === null) lines.fold.addBadLine();
        else lines.add(entry);
      }
      at = piece.at(-1)?.end ?? end;
    }
    // A last line without its LF may still change.
    const isKept = isGrowing && end === log.bytesEnd;
    const state = isKept
      ? {
          to: end,
          mark: await markOf(log, end),
          lines: lines.state(),
          ...(memory && { memory: memory.state() }),
        }
      : null;
    return { summary: await store.summaries().finish(id, lines), kept: state };
  } finally {
    window.close();
    await session.release();
  }
}
