/** Help: what `verbatim --help` says before its commands, and `verbatim help options`. */

import { type Command, Help, type Option } from "commander";
import type { CommandOption } from "./command/command.ts";
import { FILTER_OPTIONS, WHERE_OPTIONS } from "./command/options.ts";

/** Lines that begin with a space are printed as they are. */
export const DESCRIPTION = `The record of what AI agents said and did: append-only, durable, provable.

Start here:
  verbatim serve --open    read your sessions in a browser
  verbatim ls              list them here
  verbatim show last       print the latest one
  verbatim FILE            print the session in that file`;

export const AFTER_COMMANDS = `
\`verbatim COMMAND --help\` explains a command, \`verbatim help options\` the options that many have.`;

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["NO_COLOR", "no colours, if it is set and not empty"],
  ["VERBATIM_KEY_DIR", "where your own keys are; default: verbatim/keys in XDG_CONFIG_HOME"],
  ["VERBATIM_REMEMBER", "0: recorded sessions are found only from their own directories"],
  ["VERBATIM_TOKEN", "a token of the server that --to names"],
  ["VERBATIM_SENDER", "as whom --to sends: user@machine; else as the system says"],
  ["VERBATIM_TRANSCRIPT_INTEGRITY", "strict or lenient: whether unsigned last lines are accepted"],
  ["XDG_CONFIG_HOME", "your trusted keys; default: ~/.config"],
  ["XDG_STATE_HOME", "pinned heads, remembered stores; default: ~/.local/state"],
  ["XDG_DATA_HOME", "a server's streams and the guard's copies; default: ~/.local/share"],
  ["XDG_CACHE_HOME", "indexes that can be rebuilt; default: ~/.cache"],
];

const OF_ALL: readonly CommandOption[] = [
  { flags: "--json", summary: "print JSON: its fields stay, the text for people may change" },
  { flags: "--yes", summary: "do not ask for confirmation; for scripts" },
  { flags: "-h, --help", summary: "what a command does, takes, and examples" },
];

/** What `verbatim help options` prints; `columns`: the width of the terminal. */
export function sharedOptionsText(columns: number): string {
  return `${[
    "Options of commands that read sessions:",
    ...rows(WHERE_OPTIONS.map(rowOf), columns),
    "",
    "Filters of ls, search, usage, scan, verify and export; a session must fit all of them:",
    ...rows(FILTER_OPTIONS.map(rowOf), columns),
    "",
    "Options of most commands:",
    ...rows(OF_ALL.map(rowOf), columns),
    "",
    "Environment:",
    ...rows(ENVIRONMENT, columns),
  ].join("\n")}\n`;
}

function rowOf({ flags, summary, choices }: CommandOption): readonly [string, string] {
  return [flags, choices === undefined ? summary : `${summary}: ${choices.join(", ")}`];
}

const COLUMNS_MAX = 100;

function rows(all: readonly (readonly [string, string])[], columns: number): string[] {
  const left = Math.max(...all.map(([name]) => name.length)) + 4;
  const width = Math.max(20, Math.min(columns, COLUMNS_MAX) - left);
  return all.flatMap(([name, text]) => {
    const [first = "", ...more] = wrapped(text, width);
    return [`  ${name}`.padEnd(left) + first, ...more.map((line) => " ".repeat(left) + line)];
  });
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The last line of the help of a command that has options of `verbatim help options`. */
export function sharedOptionsLine(options: readonly CommandOption[]): string | null {
  const names = options.flatMap(({ flags, isShared }) => {
    return isShared === true ? [flags.split(" ")[0] ?? ""] : [];
  });
  return names.length === 0 ? null : `Also: ${names.join(" ")} (\`verbatim help options\`)`;
}

/** Commands by their names alone: what they take is in their own help. */
export function subcommandTerm(command: Command): string {
  return command.name();
}

/** `verbatim --help` has its commands instead, and every command has `--help`. */
export function visibleOptions(this: Help, command: Command): Option[] {
  if (command.parent === null) return [];
  const options = Help.prototype.visibleOptions.call(this, command);
  return options.filter(({ long }) => long !== "--help");
}
