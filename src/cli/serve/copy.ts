/** `verbatim copy`: copies all streams between a data directory and PostgreSQL. */

import { type CliCommand, type Io, textOption, UsageError } from "../command/command.ts";

export const copy: CliCommand = {
  name: "copy",
  summary: "Copy a stopped server's streams between a data directory and PostgreSQL",
  options: [
    { flags: "--from <place>", summary: "a data directory, or postgres://user@host/database" },
    { flags: "--to <place>", summary: "a new or empty one of either kind" },
    { flags: "--json", summary: "print what was copied, as JSON" },
  ],
  examples: [
    "verbatim copy --from ./streams --to postgres://verbatim@db.example.com/streams",
    "verbatim copy --from postgres://verbatim@db.example.com/streams --to ./streams-2",
  ],

  async run({ options, io }) {
    const from = textOption("--from", options.from);
    const to = textOption("--to", options.to);
    if (from === undefined || to === undefined) throw new UsageError("give --from and --to");
    const { checkPlace, copyBetween, openSource } = await import("./copy-places.ts");
    checkPlace("--from", from);
    checkPlace("--to", to);
    const source = await openSource(from, true);
    try {
      const { isResumed, ...report } = await copyBetween(source, to, io);
      const { streams, bytes, records } = report;
      if (options.json) {
        io.out(JSON.stringify({ from: source.place, ...report, resumed: isResumed }));
      } else {
        const count = `${streams} ${streams === 1 ? "stream" : "streams"}, ${bytes} bytes`;
        const more = records === 0 ? "" : ` and ${records} records of subscriptions`;
        io.out(`${count}${more} copied to ${report.to}, and compared`);
      }
      warn(io, source.others ?? []);
      return 0;
    } finally {
      await source.close();
    }
  },
};

function warn(io: Io, notCopied: readonly string[]): void {
  if (notCopied.length === 0) return;
  io.err(`not copied: ${notCopied.join(", ")}; serve needs them in --data`);
  if (!notCopied.includes("tokens.json")) return;
  io.err(
    "warning: tokens were not copied: without tokens.json in its --data, a server needs no token",
  );
}
