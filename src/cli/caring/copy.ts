/** `verbatim copy`: copies all streams between a data directory and PostgreSQL. */

import { type CliCommand, textOption, UsageError } from "../../command/command.ts";

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
    const { copyBetween, openSource } = await import("./copy-places.ts");
    const source = await openSource(from, true);
    try {
      const { isResumed, ...report } = await copyBetween(source, to, io);
      const { streams, bytes, records } = report;
      if (options.json) {
        io.out(JSON.stringify({ from: source.place, ...report, resumed: isResumed }));
      } else {
        const count = `${streams} ${streams === 1 ? "stream" : "streams"}`;
        io.out(
          `${count}, ${bytes} bytes and ${records} records copied to ${report.to}, and compared`,
        );
      }
      const { others = [] } = source;
      if (others.length > 0) io.err(`not copied: ${others.join(", ")}; serve needs them in --data`);
      return 0;
    } finally {
      await source.close();
    }
  },
};
