/**
 * Live entries: `verbatim show --follow` prints the end of a session, and entries that any process
 * appends from now on.
 */

import { type ByteOffset, START } from "../../core/base/offset.ts";
import { HeldEntries, usageOnce } from "../../core/model/usage-once.ts";
import type { BadEntry, StoredEntry } from "../../dialects/files/stored-entries.ts";
import { jsonText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Io, Run } from "../command/command.ts";
import { BadLines, EntryPrinter } from "./reading.ts";

/** How long an entry waits for the next line of its message. */
const HOLD_MS = 500;

/** Prints the last entries and what follows them, until interrupted. */
export async function showLive(session: Session, last: number, run: Run): Promise<number> {
  const { options, io } = run;
  const printer = new EntryPrinter(run);
  const badLines = new BadLines();
  const signal = io.interruption();
  try {
    const isOnce = options.json !== true;
    const { resumed, countedTo } = await showEnd(session, last, { printer, badLines, isOnce });
    const from = resumed?.start ?? START;
    const followed = following(session, { from, signal }, { badLines, countedTo, io });
    const live = new LivePrinter(printer, isOnce);
    let expected = resumed;
    try {
      for await (const entry of followed) {
        const isShown = expected !== null && isSame(entry, expected);
        expected = null;
        if (!isShown) await live.add(entry);
      }
    } finally {
      await live.end();
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
  printer.tellUnshown();
  badLines.tell(io);
  return 0;
}

interface Showing {
  readonly printer: EntryPrinter;
  readonly badLines: BadLines;
  /** Show the usage of a message once, for people; programs get the usage of each line. */
  readonly isOnce: boolean;
}

/**
 * Prints entries as they come. Entries of a message that may continue wait HOLD_MS for its next
 * line, which repeats the usage; a message with a longer pause shows its usage so far.
 */
class LivePrinter {
  readonly #printer: EntryPrinter;
  readonly #isOnce: boolean;
  readonly #held = new HeldEntries<StoredEntry>();
  #printing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(printer: EntryPrinter, isOnce: boolean) {
    this.#printer = printer;
    this.#isOnce = isOnce;
  }

  async add(entry: StoredEntry): Promise<void> {
    clearTimeout(this.#timer);
    await this.#print(this.#isOnce ? [...this.#held.add(entry)] : [entry]);
    if (this.#held.isEmpty) return;
    this.#timer = setTimeout(
      () => void this.#print([...this.#held.end()]).catch(() => {}),
      HOLD_MS,
    );
  }

  /** Prints waiting entries; rejects if printing has failed. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#print([...this.#held.end()]);
  }

  /** Serialised: a timer may print while an entry comes. A failure is kept for the next call. */
  #print(entries: readonly StoredEntry[]): Promise<void> {
    this.#printing = this.#printing.then(async () => {
      for (const entry of entries) await this.#printer.add(entry);
      await this.#printer.flush();
    });
    return this.#printing;
  }
}

/** Prints the last entries; returns the last one, and up to where bad lines were counted. */
async function showEnd(
  session: Session,
  last: number,
  { printer, badLines, isOnce }: Showing,
): Promise<{ resumed: StoredEntry | null; countedTo: number }> {
  let countedTo = -1;
  const onBadLine = (bad: BadEntry) => {
    countedTo = Math.max(countedTo, bad.offset);
    badLines.add(bad);
  };
  // At least one: following starts there.
  const shown = await session.last(Math.max(last, 1), { onBadLine });
  const printed = isOnce ? usageOnce(shown) : shown;
  if (last > 0) for await (const entry of printed) await printer.add(entry);
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
