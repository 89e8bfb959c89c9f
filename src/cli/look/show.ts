/** `verbatim show`: a session for people, or entry by entry for programs. */

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
    const { showLive } = await import("./live-entries.ts");
    return showLive(session, last ?? LAST_FOLLOWED, run);
  }
  const show = (paged: Io) => showEntries(session, last, { ...run, io: paged });
  return options.json === true || options.pager === false ? show(io) : withPager(io, show);
}

async function showEntries(session: Session, last: number | null, run: Run): Promise<number> {
  const { io } = run;
  const printer = new EntryPrinter(run, session);
  const badLines = new BadLines();
  const reading = { onBadLine: badLines.add };
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
