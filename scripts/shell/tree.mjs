/**
 * Completions tree: which words may follow which on the command line. Made from what the commands
 * declare, so that no completion is forgotten. The name of a value says what it is: `<dir>` is a
 * directory, `<file>` a file, `<bash|zsh>` one of these.
 *
 * @import { AnyCommand, CommandOption } from "../../src/cli/command/command.ts"
 *
 * A session is an id that `verbatim ls --ids` lists, or the path of a log. Own: only the user knows.
 * @typedef {{ kind: "choice", choices: readonly string[] }
 *   | { kind: "file" | "directory" | "session" | "own" }} Value
 *
 * @typedef {object} OptionWord
 * @property {readonly string[]} names `--json`, and short ones.
 * @property {string} summary
 * @property {(Value & { name: string, isOptional: boolean }) | null} value Null for a switch.
 *
 * @typedef {object} CommandNode
 * @property {readonly string[]} path The words that lead here; none for `verbatim` itself.
 * @property {string} summary
 * @property {readonly { name: string, summary: string }[]} commands
 * @property {readonly OptionWord[]} options
 * @property {readonly Value[]} values Its arguments, in order.
 * @property {boolean} takesMany The last argument may be repeated.
 */

/** @type {OptionWord} */
const HELP = { names: ["-h", "--help"], summary: "print help", value: null };
/** @type {OptionWord} */
const VERSION = {
  names: ["-v", "--version"],
  summary: "print the version",
  value: null,
};

/**
 * `verbatim`, its commands and theirs, each once.
 *
 * @param {readonly AnyCommand[]} commands
 * @returns {CommandNode[]}
 */
export function completionNodes(commands) {
  const top = {
    path: [],
    summary: "",
    commands: commands.map(nameAndSummary),
    options: [VERSION, HELP],
    values: [],
    takesMany: false,
  };
  return [top, ...commands.flatMap((command) => nodesOf(command, []))];
}

/**
 * Only long names are completed: a short one is typed faster.
 *
 * @param {OptionWord} option
 */
export function longNames({ names }) {
  return names.filter((name) => name.startsWith("--"));
}

/**
 * @param {AnyCommand} command
 * @param {readonly string[]} above
 * @returns {CommandNode[]}
 */
function nodesOf(command, above) {
  const path = [...above, command.name];
  const { summary } = command;
  const commands = (command.commands ?? []).map(nameAndSummary);
  const below = (command.commands ?? []).flatMap((each) => nodesOf(each, path));
  if (!("run" in command)) {
    return [{ path, summary, commands, options: [HELP], values: [], takesMany: false }, ...below];
  }
  const { args = [] } = command;
  const options = [...command.options.map(optionWord), HELP];
  const values = args.map(({ name }) => argumentValue(name));
  const takesMany = args.at(-1)?.name.includes("...") ?? false;
  return [{ path, summary, commands, options, values, takesMany }, ...below];
}

/** @param {AnyCommand} command */
function nameAndSummary({ name, summary }) {
  return { name, summary };
}

/**
 * @param {CommandOption} option
 * @returns {OptionWord}
 */
function optionWord({ flags, summary, choices }) {
  const names = flags.split(/[ ,]+/).filter((word) => word.startsWith("-"));
  const name = /[<[](.+)[>\]]/.exec(flags)?.[1];
  if (name === undefined) return { names, summary, value: null };
  const isOptional = flags.endsWith("]");
  if (choices) return { names, summary, value: { kind: "choice", choices, name, isOptional } };
  const kind = /^dir/.test(name) ? "directory" : /^file|^path/.test(name) ? "file" : "own";
  return { names, summary, value: { kind, name, isOptional } };
}

/**
 * @param {string} declared
 * @returns {Value}
 */
function argumentValue(declared) {
  const name = declared.replace(/[<>[\].]/g, "");
  if (name.includes("|")) return { kind: "choice", choices: name.split("|") };
  if (/^dir/.test(name)) return { kind: "directory" };
  if (/^session/.test(name)) return { kind: "session" };
  return { kind: /^(file|path|log|key|bundle)/.test(name) ? "file" : "own" };
}
