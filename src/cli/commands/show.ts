/** `verbatim show`: a session for people, or entry by entry for programs. */

import { type CliCommand, wholeNumber } from "../command.ts";
import {
  BadLines,
  EntryPrinter,
  openNamed,
  SESSION_ARGUMENT,
  tellTornTail,
  VIEW_OPTIONS,
  WHERE_OPTIONS,
} from "../reading.ts";

/** They are held in memory, to be shown in order. */
const LAST_MAX = 100_000;

export const show: CliCommand = {
  name: "show",
  summary: "Show a session",
  args: [SESSION_ARGUMENT],
  options: [
    ...VIEW_OPTIONS,
    { flags: "--last <n>", summary: "only the last n entries, however long the log" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim show hello_world-1739012630",
    "verbatim show hello --last 20 --thinking",
    "verbatim show .ai/threads/hello_world-1739012630 --no-tools | less",
    "verbatim show kitchen/2026-11-15 --json | jq 'select(.role == \"user\")'",
  ],

  async run(run) {
    const { args, options, io } = run;
    const last =
      options.last === undefined ? null : wholeNumber("--last", options.last, 1, LAST_MAX);
    const session = await openNamed(args[0] ?? "", run);
    const printer = new EntryPrinter(run);
    const badLines = new BadLines();
    const reading = { onBadLine: badLines.add };
    const entries = last === null ? session.entries(reading) : await session.last(last, reading);
    try {
      for await (const entry of entries) await printer.add(entry);
    } finally {
      await printer.flush(); // Also when reading fails: what came before is shown.
    }
    printer.tellUnshown();
    badLines.tell(io);
    await tellTornTail(session, io);
    return 0;
  },
};
