/** Commands: every command of `verbatim`, in the groups and in the order in which the help lists them. */

import { type AnyCommand, type CliCommand, isGroup } from "./command/command.ts";
import { completions } from "./completions.ts";
import { exportSessions, guard, importBundle, restore } from "./keep/commands.ts";
import { agents, ls, search, show, usage } from "./look/commands.ts";
import { redact, scan, share, verify } from "./prove/commands.ts";
import { keys } from "./prove/keys.ts";
import { record, resume } from "./record/commands.ts";
import { hooks } from "./record/hooks-command.ts";
import { doctor, mcp, open, serve, server } from "./serve/commands.ts";

export interface ListedGroup {
  readonly heading: string;
  readonly commands: readonly AnyCommand[];
}

export const LISTED: readonly ListedGroup[] = [
  { heading: "Look at sessions:", commands: [ls, show, search, usage, agents] },
  { heading: "Keep them:", commands: [guard, restore, exportSessions, importBundle] },
  { heading: "Record new ones:", commands: [record, hooks, resume] },
  { heading: "Prove what they say:", commands: [verify, redact, scan, share, keys] },
  { heading: "Serve them:", commands: [serve, server, open, mcp, doctor] },
];

/** Not in the help: a shell needs `completions` once. */
export const UNLISTED: readonly AnyCommand[] = [completions];

export const COMMANDS: readonly AnyCommand[] = [
  ...LISTED.flatMap(({ commands }) => commands),
  ...UNLISTED,
];

export interface NamedCommand {
  /** As typed after `verbatim`: `keys trust add`. */
  readonly names: string;
  readonly command: CliCommand;
}

/** All commands that run, also those below others. */
export function runnable(commands: readonly AnyCommand[] = COMMANDS, above = ""): NamedCommand[] {
  return commands.flatMap((command) => {
    const names = `${above}${command.name}`;
    const below = runnable(command.commands ?? [], `${names} `);
    return isGroup(command) ? below : [{ names, command }, ...below];
  });
}
