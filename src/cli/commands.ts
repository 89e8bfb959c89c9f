/** Commands: every command of `verbatim`, in the order in which the help lists them. */

import type { CliCommand, CommandGroup } from "./command/command.ts";
import { completions } from "./completions.ts";
import { exportSession, guard, handoff, render, restore, send, unpack } from "./keep/commands.ts";
import { agents, ls, search, show, usage } from "./look/commands.ts";
import { prove, redact, scan, share, verify } from "./prove/commands.ts";
import { head } from "./prove/head.ts";
import { keys } from "./prove/keys.ts";
import { trust } from "./prove/trust.ts";
import { record, resume } from "./record/commands.ts";
import { DIALECT_COMMANDS } from "./record/dialect-commands.ts";
import { backup, copy, doctor, mcp, open, repair, serve } from "./serve/commands.ts";
import { token } from "./serve/token.ts";

export interface ListedGroup {
  readonly heading: string;
  readonly commands: readonly (CliCommand | CommandGroup)[];
}

export const LISTED: readonly ListedGroup[] = [
  { heading: "Look at sessions:", commands: [ls, show, search, usage, agents] },
  {
    heading: "Keep them:",
    commands: [guard, send, restore, render, exportSession, handoff, unpack],
  },
  { heading: "Record new ones:", commands: [record, ...DIALECT_COMMANDS, resume] },
  {
    heading: "Prove what they say:",
    commands: [verify, redact, prove, share, scan, keys, trust, head],
  },
  {
    heading: "Serve them:",
    commands: [serve, open, mcp, doctor, repair, backup, copy, token],
  },
];

export const COMMANDS: readonly (CliCommand | CommandGroup)[] = [
  ...LISTED.flatMap(({ commands }) => commands),
  completions,
];
