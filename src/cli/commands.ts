/** Commands: every command of `verbatim`, in the order in which the help lists them. */

import { backup } from "./caring/backup.ts";
import { copy } from "./caring/copy.ts";
import { doctor } from "./caring/doctor.ts";
import { repair } from "./caring/repair.ts";
import type { CliCommand, CommandGroup } from "./command/command.ts";
import { handoff } from "./continuing/handoff.ts";
import { resume } from "./continuing/resume.ts";
import { unpack } from "./continuing/unpack.ts";
import { DIALECT_COMMANDS } from "./dialects/dialect-commands.ts";
import { guard } from "./keeping/guard.ts";
import { restore } from "./keeping/restore.ts";
import { head } from "./proving/head.ts";
import { keys } from "./proving/keys.ts";
import { prove } from "./proving/prove.ts";
import { redact } from "./proving/redact.ts";
import { trust } from "./proving/trust.ts";
import { verify } from "./proving/verify.ts";
import { agents } from "./reading/agents.ts";
import { exportSession } from "./reading/export.ts";
import { ls } from "./reading/ls.ts";
import { mcp } from "./reading/mcp.ts";
import { render } from "./reading/render.ts";
import { search } from "./reading/search.ts";
import { show } from "./reading/show.ts";
import { tail } from "./reading/tail.ts";
import { record } from "./recording/record.ts";
import { scan } from "./scanning/scan.ts";
import { send } from "./sending/send.ts";
import { open } from "./serving/open.ts";
import { serve } from "./serving/serve.ts";
import { share } from "./serving/share.ts";
import { token } from "./serving/token.ts";
import { completions } from "./shell/completions.ts";
import { usage } from "./usage/usage.ts";

export const COMMANDS: readonly (CliCommand | CommandGroup)[] = [
  record,
  ls,
  agents,
  search,
  show,
  tail,
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
