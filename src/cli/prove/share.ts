/** `verbatim share`: links that show part of a session, and prove it. */

import { type CliCommand, UsageError } from "../command/command.ts";
import { YES_OPTION } from "../command/question.ts";
import { WHERE_OPTIONS } from "../look/reading.ts";
import { DATA_OPTION } from "../serve/token.ts";

export const share: CliCommand = {
  name: "share",
  summary: "Share part of a session by a link that expires and can be revoked",
  args: [
    { name: "<session>", summary: "an id, the beginning of one or `last`; or `ls`, or `revoke`" },
    { name: "[id]", summary: "with `revoke`: the share, as `verbatim share ls` shows it" },
  ],
  options: [
    {
      flags: "--redact <rules>",
      summary: "rules of `scan`, comma-separated, whose finds are withheld; `none` for none",
      default: "default",
    },
    {
      flags: "--match <text>",
      summary: "withhold every string or line with this text",
      isRepeatable: true,
    },
    { flags: "--allow-missing", summary: "continue if a text of --match is not found" },
    {
      flags: "--entry <n>",
      summary: "withhold the entry on this line of the log",
      isRepeatable: true,
    },
    { flags: "--reason <text>", summary: "why these things are withheld; readers see it" },
    {
      flags: "--expires <when>",
      summary: "2h, 7d, or a time: 2027-01-31T00:00:00Z",
      default: "1d",
    },
    { flags: "--live", summary: "follow the session and show each signed turn, until Ctrl-C" },
    {
      flags: "--delay <turns>",
      summary: "with --live: show a turn after this many more",
      default: "0",
    },
    {
      flags: "--url <url>",
      summary: "the server's address in the link; default: that of this machine",
    },
    DATA_OPTION,
    {
      flags: "--store <url>",
      summary: "the server's database instead: postgres://user@host/database",
    },
    YES_OPTION,
    { flags: "--json", summary: "print JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim share last --expires 2h",
    'verbatim share hello --match "17 Mill Lane" --reason "private address" --yes',
    "verbatim share hello --live --delay 1 --expires 2h",
    "verbatim share ls",
    "verbatim share revoke 3f9a1c07",
    "verbatim share last --store postgres://verbatim@db.example.com/streams --yes",
  ],

  async run(run) {
    const [what = "", id] = run.args;
    const sharing = await import("./run-share.ts");
    if (what === "revoke") {
      if (id === undefined) throw new UsageError("name the share: verbatim share revoke ID");
      return sharing.revoke(run, id);
    }
    if (id !== undefined) throw new UsageError(`${id} is one name too many`);
    return what === "ls" ? sharing.list(run) : sharing.runShare(run, what);
  },
};
