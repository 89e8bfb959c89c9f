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

export const COMMANDS: readonly (CliCommand | CommandGroup)[] = [
  record,
  ls,
  agents,
  search,
  show,
  render,
  exportSession,
  usage,
  ...DIALECT_COMMANDS,
  verify,
  redact,
  prove,
  share,
  scan,
  resume,
  handoff,
  unpack,
  guard,
  send,
  restore,
  doctor,
  repair,
  serve,
  open,
  mcp,
  backup,
  copy,
  token,
  keys,
  trust,
  head,
  completions,
];
