/** `verbatim tail`: the end of a session, and what any process appends to it from now on. */

import { type ByteOffset, START } from "../../base/offset.ts";
import { jsonText } from "../../render/json-text.ts";
import type { Session } from "../../store/session.ts";
import type { BadEntry, StoredEntry } from "../../store/stored-entries.ts";
import { type CliCommand, type Io, wholeNumber } from "../command.ts";
import {
  BadLines,
  EntryPrinter,
  openNamed,
  SESSION_ARGUMENT,
  VIEW_OPTIONS,
  WHERE_OPTIONS,
} from "../reading.ts";

const LAST_MAX = 100_000;

export const tail: CliCommand = {
  name: "tail",
  summary: "Show the end of a session and follow it until interrupted",
  args: [SESSION_ARGUMENT],
  options: [
    ...VIEW_OPTIONS,
    { flags: "--last <n>", summary: "start with the last n entries", default: "10" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim tail hello_world-1739012630",
    "verbatim tail hello --last 0 --json | jq -c '.parts[]'",
  ],

  async run(run) {
    const { args, options, io } = run;
    const last = wholeNumber("--last", options.last, 0, LAST_MAX);
    const session = await openNamed(args[0] ?? "", run);
    const printer = new EntryPrinter(run);
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
  },
};

/** Prints the last entries; says which was the last, and up to where bad lines were counted. */
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
  // One at the least: it is where following goes on.
  const shown = await session.last(Math.max(last, 1), { onBadLine });
  if (last > 0) for (const entry of shown) await printer.add(entry);
  await printer.flush();
  return { resumed: shown.at(-1) ?? null, countedTo };
}

/** What is appended; bad lines that were counted are not counted again, and a cut is told. */
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
          "no longer stand; what stands in their place follows",
      );
    },
  });
}

/**
 * Following begins with the last line that was shown, not after it: that line may lack its LF as
 * yet, and only the follower can tell whether it still stands when it has one.
 */
function isSame(entry: StoredEntry, shown: StoredEntry): boolean {
  return entry.start === shown.start && jsonText(entry.native) === jsonText(shown.native);
}
