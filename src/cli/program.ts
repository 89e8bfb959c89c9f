/** Program: builds `verbatim` from its commands. */

import { existsSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { errnoSentence, VerbatimError } from "../core/base/errors.ts";
import { packageVersion } from "../core/package-file.ts";
import { safeText } from "../sessions/render/text.ts";
import { type CliCommand, type Io, OutputClosed, UsageError } from "./command/command.ts";
import { COMMANDS } from "./commands.ts";
import { type ProcessIo, processIo } from "./process-io.ts";
import { RECORD_SOURCES } from "./record/dialect-commands.ts";

const START_HERE = `
Start here:
  verbatim serve --open           read your sessions in a browser
  verbatim ls                     list them here
  verbatim show last              print the latest one
  verbatim FILE                   print the session in that file`;

/** What to use instead of commands that people may look for. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["stats", "verbatim usage directive --agent rye"],
]);

const EXIT_USAGE = 2;
const EXIT_IO = 7;

async function program(argv: readonly string[], io: ProcessIo): Promise<number> {
  let exitCode = 0;
  let running = argv[0] ?? "";
  const verbatim = new Command("verbatim")
    .description("The record of what AI agents said and did: append-only, durable, provable.")
    .version(packageVersion(), "-v, --version")
    // Or `record --version 2` would print our version and record nothing.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(safeText(withFile(text))) })
    .showHelpAfterError("`verbatim --help` lists the commands")
    .addHelpText("after", START_HERE);
  // A word alone may be a command or a file.
  const withFile = (text: string) => {
    const unknown = `error: unknown command '${argv[0]}'`;
    const instead = INSTEAD.get(running);
    if (instead) return text.replace(unknown, () => `${unknown}; use \`${instead}\``);
    return COMMANDS.some(({ name }) => name === argv[0])
      ? text
      : text.replace(unknown, () => `${unknown}, and there is no such file`);
  };
  const add = (parent: Command, names: string, command: CliCommand) => {
    const sub = addCommand(parent, names, command);
    sub.action(async () => {
      running = names;
      const run = { args: sub.args, options: sub.opts(), io };
      const { hooksFirst } = await import("./record/waiting-hooks.ts");
      const stop = await hooksFirst(names, run);
      exitCode = await command.run(run);
      stop();
    });
  };
  for (const command of COMMANDS) {
    if ("commands" in command) {
      const group = verbatim
        .command(command.name)
        .description(command.summary)
        .showHelpAfterError(`\`verbatim ${command.name} --help\` lists its commands`);
      for (const each of command.commands) add(group, `${command.name} ${each.name}`, each);
    } else {
      add(verbatim, command.name, command);
    }
  }
  try {
    if (argv.length === 0 && io.isTerminal) {
      const { printFrontPage } = await import("./look/front-page.ts");
      if (await printFrontPage(io)) {
        await io.finish();
        return 0;
      }
    }
    await verbatim.parseAsync(meant(argv), { from: "user" });
    await io.finish();
    return exitCode;
  } catch (error) {
    io.progress(null);
    return exitCodeOf(error, running, io);
  }
}

/** Rewrites shortcuts: no arguments (and nothing found) means `--help`, a path alone `show`, `-V` is `--version`. */
function meant(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  if (first === "-V") return ["--version", ...rest];
  const ids = argv.includes("--") ? [] : argv.filter(isDashedId);
  if (ids.length > 0) return [...argv.filter((each) => !isDashedId(each)), "--", ...ids];
  const isCommand = COMMANDS.some(({ name }) => name === first) || first === "help";
  return !isCommand && !first.startsWith("-") && existsSync(first) ? ["show", ...argv] : argv;
}

/**
 * Claude Code's directories, and so the ids of its sessions, begin with a dash, those of pi with
 * two; so does one of 64 public keys (43 characters of base64url).
 */
function isDashedId(argument: string): boolean {
  return /^-[^=]*\/|^-[\w-]{42}$/.test(argument);
}

/** `names` is the full command as typed. */
function addCommand(parent: Command, names: string, command: CliCommand): Command {
  const sub = parent.command(command.name).description(command.summary);
  for (const { name, summary } of command.args ?? []) sub.argument(name, summary);
  for (const option of command.options) {
    const { flags, summary, choices } = option;
    const made = new Option(flags, summary);
    if (choices) made.choices(choices);
    if (option.isRepeatable) {
      made.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
    }
    if (option.default !== undefined) made.default(option.default);
    sub.addOption(made);
  }
  return sub
    .showHelpAfterError(`\`verbatim ${names} --help\` has examples`)
    .addHelpText("after", ["", "Examples:", ...command.examples.map((e) => `  ${e}`)].join("\n"));
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
