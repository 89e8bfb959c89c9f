/** Commands: every command of `verbatim`, in the groups and in the order in which the help lists them. */

import { type AnyCommand, type CliCommand, isGroup, UsageError } from "./command/command.ts";
import { exportSessions, guard, importBundle, restore, rm } from "./keep/commands.ts";
import { agents, ls, search, show, usage } from "./look/commands.ts";
import { redact, scan, share, verify } from "./prove/commands.ts";
import { keys } from "./prove/keys.ts";
import { proxy, record, resume } from "./record/commands.ts";
import { hooks } from "./record/hooks-command.ts";
import { doctor, mcp, open, serve, server } from "./serve/commands.ts";

const SHELLS: readonly string[] = ["bash", "zsh", "fish"];

/** Built with the package (scripts/shell-files.mjs) from the declarations of commands. */
const completions: CliCommand = {
  name: "completions",
  summary: "Print a completion script for your shell",
  args: [{ name: `<${SHELLS.join("|")}>`, summary: "the shell" }],
  options: [],
  examples: [
    "source <(verbatim completions bash)                       # in ~/.bashrc",
    'verbatim completions zsh > "$fpath[1]/_verbatim"          # then start a new zsh',
    "verbatim completions fish > ~/.config/fish/completions/verbatim.fish",
  ],

  async run({ args: [shell = ""], io }) {
    if (!SHELLS.includes(shell)) {
      throw new UsageError(`there is no script for ${shell}; choose one of ${SHELLS.join(", ")}`);
    }
    const { readFile } = await import("node:fs/promises");
    const { packageFile } = await import("../core/package-file.ts");
    await io.print(await readFile(packageFile(`dist/completions/${shell}`)));
    return 0;
  },
};

export interface ListedGroup {
  readonly heading: string;
  readonly commands: readonly AnyCommand[];
}

export const LISTED_GROUPS: readonly ListedGroup[] = [
  { heading: "Look at sessions:", commands: [ls, show, search, usage, agents] },
  { heading: "Keep them:", commands: [guard, restore, exportSessions, importBundle, rm] },
  { heading: "Record new ones:", commands: [record, proxy, hooks, resume] },
  { heading: "Prove what they say:", commands: [verify, redact, scan, share, keys] },
  { heading: "Serve them:", commands: [serve, server, open, mcp, doctor] },
];

/** Not in the help: a shell needs `completions` once. */
export const UNLISTED: readonly AnyCommand[] = [completions];

export const COMMANDS: readonly AnyCommand[] = [
  ...LISTED_GROUPS.flatMap(({ commands }) => commands),
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
