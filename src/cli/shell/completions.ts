/** `verbatim completions`: a script that lets a shell complete commands, options and values. */

import { type CliCommand, type CommandGroup, UsageError } from "../command.ts";
import type { CommandNode } from "./completions-tree.ts";

const SHELLS = {
  bash: async () => (await import("./completions-bash.ts")).bashCompletions,
  zsh: async () => (await import("./completions-zsh.ts")).zshCompletions,
  fish: async () => (await import("./completions-fish.ts")).fishCompletions,
} satisfies Record<string, () => Promise<(nodes: readonly CommandNode[]) => string>>;

/** `all` gives every command, this one too: what is completed is what can be called. */
export function completions(all: () => readonly (CliCommand | CommandGroup)[]): CliCommand {
  return {
    name: "completions",
    summary: "Print a completion script for your shell",
    args: [{ name: `<${Object.keys(SHELLS).join("|")}>`, summary: "the shell" }],
    options: [],
    examples: [
      "source <(verbatim completions bash)                       # in ~/.bashrc",
      'verbatim completions zsh > "$fpath[1]/_verbatim"          # then start a new zsh',
      "verbatim completions fish > ~/.config/fish/completions/verbatim.fish",
    ],

    async run({ args, io }) {
      const [shell = ""] = args;
      if (!isShell(shell)) throw new UsageError(`there is no script for ${shell}; choose ${NAMES}`);
      const { completionNodes } = await import("./completions-tree.ts");
      const print = await SHELLS[shell]();
      await io.print(print(completionNodes(all())));
      return 0;
    },
  };
}

const NAMES = `completions for ${Object.keys(SHELLS).join(", ")}`;

function isShell(name: string): name is keyof typeof SHELLS {
  return Object.hasOwn(SHELLS, name);
}
