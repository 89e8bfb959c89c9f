/** `verbatim show`: a session for people, or entry by entry for programs. */

import { type ByteOffset, START } from "../../core/base/offset.ts";
import type { BadEntry, StoredEntry } from "../../dialects/files/stored-entries.ts";
import { jsonText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Io, type Run, UsageError, wholeNumber } from "../command/command.ts";
import { withPager } from "../command/pager.ts";
import { EntryPrinter } from "./entry-printer.ts";
import {
  BadLines,
  NOTHING_SHOWN,
  openByName,
  tellNotUnderstood,
  tellTornTail,
} from "./named-session.ts";

/** They are held in memory, to be shown in order. */
const LAST_MAX = 100_000;
/** Where `--follow` begins without `--last`. */
const LAST_FOLLOWED = 10;

export async function runShow(run: Run): Promise<number> {
  const { args, options, io } = run;
  const follow = options.follow === true;
  const least = follow ? 0 : 1;
  const last =
    options.last === undefined ? null : wholeNumber("--last", options.last, least, LAST_MAX);
  if (follow && options.generation !== undefined) {
    throw new UsageError("choose --generation or --follow: an older generation does not grow");
  }
  const session = await openByName(args[0] ?? "", run);
  if (follow) {
    return showLive(session, last ?? LAST_FOLLOWED, run);
  }
  const show = (paged: Io) => showEntries(session, last, { ...run, io: paged });
  return options.json === true || options.pager === false ? show(io) : withPager(io, show);
}

async function showEntries(session: Session, last: number | null, run: Run): Promise<number> {
  const { io } = run;
  const printer = new EntryPrinter(run, session);
  const badLines = new BadLines();
  // People see what a line holds; a program gets long texts too, if it asks.
  const restoresSpilled = run.options.json === true && run.options.full === true;
  const reading = { onBadLine: badLines.add, restoresSpilled };
  const entries = last === null ? session.entries(reading) : await session.last(last, reading);
  try {
    for await (const entry of entries) await printer.add(entry);
  } finally {
    await printer.end(); // Also if reading fails: show the entries before that.
  }
  printer.tellUnshown();
  const notice = await tellNotUnderstood(session, io);
  badLines.tell(io);
  await tellTornTail(session, io);
  return notice === null || printer.hasPrinted ? 0 : NOTHING_SHOWN;
}

/** Prints the last entries and what follows them, until interrupted. */
async function showLive(session: Session, last: number, run: Run): Promise<number> {
  const { io } = run;
  const printer = new EntryPrinter(run, session);
  const badLines = new BadLines();
  const signal = io.interruption();
  try {
    const { resumed, countedTo } = await showEnd(session, last, printer, badLines);
    const from = resumed?.start ?? START;
    const followed = following(session, { from, signal }, { badLines, countedTo, io });
    let expected = resumed;
    for await (const entry of followed) {
      const isShown = expected !== null && isSame(entry, expected);
      expected = null;
      if (isShown) continue;
      await printer.add(entry);
      await printer.flush();
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
  printer.tellUnshown();
  badLines.tell(io);
  return 0;
}

/** Prints the last entries; returns the last one, and up to where bad lines were counted. */
async function showEnd(
  session: Session,
  last: number,
  printer: EntryPrinter,
  badLines: BadLines,
): Promise<{ resumed: StoredEntry | null; countedTo: number }> {
  let countedTo = -1;
  const onBadLine = (bad: BadEntry) => {
    countedTo = Math.max(countedTo, bad.offset);
    badLines.add(bad);
  };
  // At least one: following starts there.
  const shown = await session.last(Math.max(last, 1), { onBadLine });
  if (last > 0) for (const entry of shown) await printer.add(entry);
  await printer.flush();
  return { resumed: shown.at(-1) ?? null, countedTo };
}

/** Follows appends; does not count bad lines twice, and reports a cut log. */
function following(
  session: Session,
  reading: { readonly from: ByteOffset; readonly signal: AbortSignal },
  told: { readonly badLines: BadLines; countedTo: number; readonly io: Io },
): AsyncGenerator<StoredEntry> {
  return session.follow({
    ...reading,
    onBadLine: (bad) => {
      if (bad.offset > told.countedTo) told.badLines.add(bad);
    },
    onRewound: ({ from, to }) => {
      told.countedTo = -1;
      told.io.err(
        `the log was cut back from byte ${from} to ${to}, or replaced: entries from byte ${to} on ` +
          "are void; their replacements follow",
      );
    },
  });
}

/**
 * Following begins with the last shown line, not after it: that line may not have its LF yet, and
 * only the follower can tell whether it is still there afterwards.
 */
function isSame(entry: StoredEntry, shown: StoredEntry): boolean {
  return entry.start === shown.start && jsonText(entry.native) === jsonText(shown.native);
}
