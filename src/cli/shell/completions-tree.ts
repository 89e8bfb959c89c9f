/**
 * Completions tree: the command line as a shell needs to know it: which words may follow which.
 *
 * Made from what the commands declare, so that no completion can be forgotten. What a value is, is
 * told by its name: `<dir>` is a directory, `<file>` a file, `<bash|zsh>` one of these.
 */

import type { CliCommand, CommandGroup, CommandOption } from "../command.ts";

/** What may stand in a place. */
export type Value =
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "file" | "directory" }
  /** An id, which `verbatim ls --ids` lists, or the path of a log. */
  | { readonly kind: "session" }
  /** Only the person knows: a number, a name of their own. */
  | { readonly kind: "own" };

export interface OptionWord {
  /** `--json`; short ones too where there are any. */
  readonly names: readonly string[];
  readonly summary: string;
  /** What follows it; null for a switch. Optional: another option may follow in its place. */
  readonly value: (Value & { readonly name: string; readonly isOptional: boolean }) | null;
}

export interface CommandNode {
  /** The words that lead here: `["keys", "rotate"]`; none for `verbatim` itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly OptionWord[];
  /** What its arguments are, one after another; the last may come again. */
  readonly values: readonly Value[];
  readonly takesMany: boolean;
}

const HELP: OptionWord = { names: ["-h", "--help"], summary: "print help", value: null };
const VERSION: OptionWord = {
  names: ["-v", "--version"],
  summary: "print the version",
  value: null,
};

/** `verbatim`, its commands and theirs, each once. */
export function completionNodes(commands: readonly (CliCommand | CommandGroup)[]): CommandNode[] {
  const top: CommandNode = {
    path: [],
    summary: "",
    commands: commands.map(nameAndSummary),
    options: [VERSION, HELP],
    values: [],
    takesMany: false,
  };
  return [top, ...commands.flatMap((command) => nodesOf(command, []))];
}

/** The long names of an option: they say what it is, and a short one is typed faster than completed. */
export function longNames({ names }: OptionWord): string[] {
  return names.filter((name) => name.startsWith("--"));
}

function nodesOf(command: CliCommand | CommandGroup, above: readonly string[]): CommandNode[] {
  const path = [...above, command.name];
  if ("commands" in command) {
    const { summary, commands } = command;
    const named = commands.map(nameAndSummary);
    const group = { path, summary, commands: named, options: [HELP], values: [], takesMany: false };
    return [group, ...commands.flatMap((each) => nodesOf(each, path))];
  }
  const { summary, args = [] } = command;
  const options = [...command.options.map(optionWord), HELP];
  const values = args.map(({ name }) => argumentValue(name));
  const takesMany = args.at(-1)?.name.includes("...") ?? false;
  return [{ path, summary, commands: [], options, values, takesMany }];
}

function nameAndSummary({ name, summary }: CliCommand | CommandGroup) {
  return { name, summary };
}

function optionWord({ flags, summary, choices }: CommandOption): OptionWord {
  const names = flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
  const name = /[<[](.+)[>\]]/.exec(flags)?.[1];
  if (name === undefined) return { names, summary, value: null };
  const isOptional = flags.endsWith("]");
  if (choices) return { names, summary, value: { kind: "choice", choices, name, isOptional } };
  const kind = /^dir/.test(name) ? "directory" : /^file|^path/.test(name) ? "file" : "own";
  return { names, summary, value: { kind, name, isOptional } };
}

function argumentValue(declared: string): Value {
  const name = declared.replace(/[<>[\].]/g, "");
  if (name.includes("|")) return { kind: "choice", choices: name.split("|") };
  if (/^dir/.test(name)) return { kind: "directory" };
  if (/^session/.test(name)) return { kind: "session" };
  return { kind: /^(file|path|log|key|bundle)/.test(name) ? "file" : "own" };
}
