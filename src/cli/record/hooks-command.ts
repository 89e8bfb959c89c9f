/** `verbatim hooks`: installs or removes the hooks that record Claude Code or Codex sessions. */

import type { HookSource } from "../../dialects/hooks/hook-spool.ts";
import {
  type CliCommand,
  type CommandGroup,
  type CommandOption,
  type Run,
  UsageError,
} from "../command/command.ts";

const AGENT_OPTION: CommandOption = {
  flags: "--for <agent>",
  summary: "the agent",
  choices: ["claude-code", "codex"],
  default: "claude-code",
};
const PROJECT_OPTION: CommandOption = {
  flags: "--project",
  summary: "change the settings of the current project instead of your user settings",
};

const install: CliCommand = {
  name: "install",
  summary: "Add recording hooks to an agent's settings; nothing else in them changes",
  options: [
    AGENT_OPTION,
    PROJECT_OPTION,
    {
      flags: "--sign [when]",
      summary: "sign the sessions",
      choices: ["turn", "append"],
    },
    {
      flags: "--command <command>",
      summary: "command that starts verbatim, such as an absolute path",
      default: "verbatim",
    },
  ],
  examples: [
    "verbatim hooks install",
    "verbatim hooks install --project --sign append",
    "verbatim hooks install --for codex",
  ],

  async run(run) {
    const { options, io } = run;
    const { withHooks } = await import("../../integrations/hooks/hook-settings.ts");
    const { from, path } = await settingsOf(run);
    const when = options.sign === "turn" || options.sign === "append" ? ` ${options.sign}` : "";
    const sign = options.sign === undefined ? "" : ` --sign${when}`;
    const command = `${options.command} record --from ${from}${sign}`;
    const isChanged = await change(path, (text) => withHooks(text, from, command));
    io.out(`${path}: hooks are ${isChanged ? "installed" : "installed already"}`);
    const { isInPath } = await import("../../integrations/hooks/hook-settings.ts");
    if (options.command === "verbatim" && !isInPath("verbatim", process.env.PATH ?? "")) {
      io.err("warning: verbatim is not in the PATH, so the agent will not find it: run");
      io.err(
        "`npm install --global verbatim-log`, or install again with --command /path/to/verbatim",
      );
    }
    if (from === "codex-hooks") {
      io.err("Codex asks you to review new hooks when it starts, and runs them after that.");
      io.err(
        "`codex exec` does not ask: it skips hooks that were not reviewed, without a message.",
      );
      io.err("Start `codex` once and review them, or nothing of `codex exec` is recorded");
    }
    return 0;
  },
};

const remove: CliCommand = {
  name: "remove",
  summary: "Remove the hooks that `install` added; recorded sessions stay",
  options: [AGENT_OPTION, PROJECT_OPTION],
  examples: ["verbatim hooks remove", "verbatim hooks remove --for codex --project"],

  async run(run) {
    const { withoutHooks } = await import("../../integrations/hooks/hook-settings.ts");
    const { from, path } = await settingsOf(run);
    const isChanged = await change(path, (text) =>
      text === null ? null : withoutHooks(text, from),
    );
    run.io.out(`${path}: ${isChanged ? "hooks are removed" : "there are no hooks of ours"}`);
    return 0;
  },
};

export const hooks: CommandGroup = {
  name: "hooks",
  summary: "Record Claude Code or Codex sessions through the agent's hooks",
  commands: [install, remove],
};

/** The agent's settings file, located as the agent itself does. */
async function settingsOf({ options }: Run): Promise<{ from: HookSource; path: string }> {
  const { homedir } = await import("node:os");
  const { join } = await import("node:path");
  const isCodex = options.for === "codex";
  const [folder, name] = isCodex ? [".codex", "hooks.json"] : [".claude", "settings.json"];
  const ownDirectory = process.env[isCodex ? "CODEX_HOME" : "CLAUDE_CONFIG_DIR"];
  const directory =
    options.project === true
      ? join(process.cwd(), folder)
      : ownDirectory || join(homedir(), folder);
  return { from: isCodex ? "codex-hooks" : "claude-code-hooks", path: join(directory, name) };
}

/** Replaces the file atomically; false if there is nothing to change. */
async function change(
  path: string,
  edit: (text: string | null) => string | null,
): Promise<boolean> {
  const { SettingsFault } = await import("../../integrations/hooks/hook-settings.ts");
  const { readSettings, replaceSettings } = await import(
    "../../integrations/hooks/hook-settings.ts"
  );
  const before = readSettings(path);
  try {
    const after = edit(before);
    if (after === null || after === before) return false;
    await replaceSettings(path, after);
    return true;
  } catch (cause) {
    if (!(cause instanceof SettingsFault)) throw cause;
    throw new UsageError(`${path} was not changed: ${cause.message}; fix it first`);
  }
}
