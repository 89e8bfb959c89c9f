/** Program: builds `verbatim` from its commands. */

import { existsSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { errnoSentence, VerbatimError } from "../core/base/errors.ts";
import { packageVersion } from "../core/package-file.ts";
import { safeText } from "../sessions/render/text.ts";
import {
  type AnyCommand,
  type CliCommand,
  type Io,
  isGroup,
  OutputClosed,
  UsageError,
} from "./command/command.ts";
import { COMMANDS, LISTED_GROUPS, UNLISTED } from "./commands.ts";
import { hintFor } from "./guesses.ts";
import {
  AFTER_COMMANDS,
  DESCRIPTION,
  sharedOptionsLine,
  sharedOptionsText,
  subcommandTerm,
  visibleOptions,
} from "./help.ts";
import { type ProcessIo, processIo } from "./process-io.ts";
import { RECORD_SOURCES } from "./record/dialect-options.ts";

const EXIT_USAGE = 2;
const EXIT_IO = 7;

async function program(argv: readonly string[], io: ProcessIo): Promise<number> {
  const hint = isNoCommand(argv[0]) ? hintFor(argv[0] ?? "") : null;
  if (hint !== null) {
    io.err(`error: there is no command '${argv[0]}'; ${hint}`);
    return EXIT_USAGE;
  }
  const runningCommand = { names: argv[0] ?? "", exitCode: 0 };
  const verbatim = new Command("verbatim")
    .description(DESCRIPTION)
    .version(packageVersion(), "-v, --version")
    .configureHelp({ subcommandTerm, visibleOptions })
    // `meant` rewrites `help`.
    .helpCommand(false)
    // Or `record --version 2` would print our version and record nothing.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(safeText(withFile(text, argv))) })
    .showHelpAfterError("`verbatim --help` lists the commands")
    .addHelpText("after", AFTER_COMMANDS);
  for (const { heading, commands } of LISTED_GROUPS) {
    for (const command of commands) {
      addCommands(verbatim, "", command, runningCommand, io).helpGroup(heading);
    }
  }
  for (const command of UNLISTED) addCommands(verbatim, "", command, runningCommand, io, true);
  try {
    if (argv.length === 0 && io.isTerminal) {
      const { printFrontPage } = await import("./look/front-page.ts");
      if (await printFrontPage(io)) {
        await io.finish();
        return 0;
      }
    }
    if (argv[0] === "help" && argv[1] === "options") await io.print(sharedOptionsText(io.columns));
    else await verbatim.parseAsync(meant(argv), { from: "user" });
    await io.finish();
    return runningCommand.exitCode;
  } catch (error) {
    io.progress(null);
    return exitCodeOf(error, runningCommand.names, io);
  }
}

/** A word alone may be a command or a file. */
function withFile(text: string, [first]: readonly string[]): string {
  const unknown = `error: unknown command '${first}'`;
  return isNoCommand(first)
    ? text.replace(unknown, () => `${unknown}, and there is no such file`)
    : text;
}

function isNoCommand(word: string | undefined): boolean {
  return word !== undefined && word !== "help" && !COMMANDS.some(({ name }) => name === word);
}

/** Rewrites shortcuts: no arguments (and nothing found) means `--help`, a path alone `show`, `-V` is `--version`. */
function meant(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  if (first === "help") return [...rest, "--help"];
  if (first === "-V") return ["--version", ...rest];
  const ids = argv.includes("--") ? [] : argv.filter(isDashedId);
  if (ids.length > 0) return [...argv.filter((each) => !isDashedId(each)), "--", ...ids];
  const isPath = isNoCommand(first) && !first.startsWith("-") && existsSync(first);
  return isPath ? ["show", ...argv] : argv;
}

/**
 * Claude Code's directories, and so the ids of its sessions, begin with a dash, those of pi with
 * two; so does one of 64 public keys (43 characters of base64url).
 */
function isDashedId(argument: string): boolean {
  return /^-[^=]*\/|^-[\w-]{42}$/.test(argument);
}

/** What runs, or ran last, and its exit code. */
interface RunningCommand {
  /** In full, as typed. */
  names: string;
  exitCode: number;
}

/** Adds a command with all below it. */
function addCommands(
  parent: Command,
  above: string,
  command: AnyCommand,
  running: RunningCommand,
  io: ProcessIo,
  hidden = false,
): Command {
  const names = `${above}${command.name}`;
  const sub = parent.command(command.name, { hidden }).description(command.summary);
  sub.helpCommand(false);
  for (const below of command.commands ?? []) addCommands(sub, `${names} `, below, running, io);
  if (isGroup(command)) {
    return sub.showHelpAfterError(`\`verbatim ${names} --help\` lists its commands`);
  }
  sub.action(async () => {
    running.names = names;
    const run = { args: sub.args, options: sub.opts(), io };
    const { hooksFirst } = await import("./record/waiting-hooks.ts");
    const stop = await hooksFirst(names, run);
    running.exitCode = await command.run(run);
    stop();
  });
  return declare(sub, names, command);
}

function declare(sub: Command, names: string, command: CliCommand): Command {
  for (const { name, summary } of command.args ?? []) sub.argument(name, summary);
  for (const option of command.options) {
    const { flags, summary, choices } = option;
    const made = new Option(flags, summary);
    if (choices) made.choices(choices);
    if (option.isRepeatable) {
      made.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    }
    if (option.default !== undefined) made.default(option.default);
    if (option.isShared) made.hideHelp();
    sub.addOption(made);
  }
  const also = sharedOptionsLine(command.options);
  const examples = ["", "Examples:", ...command.examples.map((example) => `  ${example}`)];
  return sub
    .showHelpAfterError(`\`verbatim ${names} --help\` has examples`)
    .addHelpText("after", [...(also === null ? [] : ["", also]), ...examples].join("\n"));
}

/** Errors about the command line's arguments. */
const USAGE_CODES: ReadonlySet<string> = new Set(["BAD_ID", "MODEL_UNKNOWN"]);

function isUsage({ code, details }: VerbatimError): boolean {
  return USAGE_CODES.has(code) || ("setting" in details && details.setting.startsWith("--"));
}

/** Prints what failed, with a stack only for internal errors. */
function exitCodeOf(error: unknown, commandName: string, io: Io): number {
  if (error instanceof OutputClosed) return 0;
  // Commander has already printed the error; requested help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof UsageError) {
    io.err(`error: ${error.message}\n\`verbatim ${commandName} --help\` has examples`);
    return EXIT_USAGE;
  }
  if (error instanceof VerbatimError) {
    io.err(`error: ${error.message} (${error.code})`);
    return isUsage(error) ? EXIT_USAGE : EXIT_IO;
  }
  if (error instanceof Error && "syscall" in error) {
    io.err(`error: ${errnoSentence(error)}`);
    return EXIT_IO;
  }
  throw error;
}

/** Runs the command line of this process. */
export async function runProgram(): Promise<void> {
  const argv = process.argv.slice(2);
  process.exitCode = await program(argv, processIo());
  if (process.exitCode === 0) return;
  const source = RECORD_SOURCES.find(({ names }) => names.some((name) => argv.includes(name)));
  if (source === undefined) return;
  process.exitCode = 0;
  await source.refused();
}
