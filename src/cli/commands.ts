/** Commands: every command of `verbatim`, in the order in which the help lists them. */

import type { CliCommand, CommandGroup } from "./command/command.ts";
import { completions } from "./completions.ts";
import { exportSession } from "./keep/export.ts";
import { guard } from "./keep/guard.ts";
import { handoff } from "./keep/handoff.ts";
import { render } from "./keep/render.ts";
import { restore } from "./keep/restore.ts";
import { send } from "./keep/send.ts";
import { unpack } from "./keep/unpack.ts";
import { agents } from "./look/agents.ts";
import { ls } from "./look/ls.ts";
import { search } from "./look/search.ts";
import { show } from "./look/show.ts";
import { tail } from "./look/tail.ts";
import { usage } from "./look/usage.ts";
import { head } from "./prove/head.ts";
import { keys } from "./prove/keys.ts";
import { prove } from "./prove/prove.ts";
import { redact } from "./prove/redact.ts";
import { scan } from "./prove/scan.ts";
import { share } from "./prove/share.ts";
import { trust } from "./prove/trust.ts";
import { verify } from "./prove/verify.ts";
import { DIALECT_COMMANDS } from "./record/dialect-commands.ts";
import { record } from "./record/record.ts";
import { resume } from "./record/resume.ts";
import { backup } from "./serve/backup.ts";
import { copy } from "./serve/copy.ts";
import { doctor } from "./serve/doctor.ts";
import { mcp } from "./serve/mcp.ts";
import { open } from "./serve/open.ts";
import { repair } from "./serve/repair.ts";
import { serve } from "./serve/serve.ts";
import { token } from "./serve/token.ts";

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
