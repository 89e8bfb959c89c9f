/**
 * `verbatim completions`: prints a shell completion script for commands, options and values. Built
 * with the package (scripts/shell-files.mjs) from the commands' declarations.
 */

import { type CliCommand, UsageError } from "./command/command.ts";

const SHELLS: readonly string[] = ["bash", "zsh", "fish"];

export const completions: CliCommand = {
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
