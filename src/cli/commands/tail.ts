/** `verbatim tail`: the end of a session, and what any process appends to it from now on. */

import { START } from "../../base/offset.ts";
import { jsonText } from "../../render/json-text.ts";
import type { StoredEntry } from "../../store/stored-entries.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
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
  summary: "Show the end of a session, then what is appended to it, until interrupted",
  args: [SESSION_ARGUMENT],
  options: [
    ...VIEW_OPTIONS,
    { flags: "--last <n>", summary: "begin with the last n entries", default: "10" },
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
      // One at the least: it is where following goes on.
      const shown = await session.last(Math.max(last, 1), { onBadLine: badLines.add });
      if (last > 0) for (const entry of shown) await printer.add(entry);
      await printer.flush();
      const resumed = shown.at(-1);
      const reading = { from: resumed?.start ?? START, signal, onBadLine: badLines.add };
      for await (const entry of session.follow(reading)) {
        if (resumed && isSame(entry, resumed)) continue;
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

/**
 * Following begins with the last line that was shown, not after it: that line may lack its LF as
 * yet, and only the follower can tell whether it still stands when it has one.
 */
function isSame(entry: StoredEntry, shown: StoredEntry): boolean {
  return entry.start === shown.start && jsonText(entry.native) === jsonText(shown.native);
}
