#!/usr/bin/env node
/** Main: `verbatim`, put together from its commands. */

import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { VerbatimError } from "../base/errors.ts";
import { type CliCommand, type Io, UsageError } from "./command.ts";
import { torture } from "./commands/torture.ts";

const COMMANDS: readonly CliCommand[] = [torture];

const EXIT_USAGE = 2;
const EXIT_IO = 7;

const io: Io = {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  progress(text) {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text ?? ""}`);
  },
};

async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = new Command("verbatim")
    .description("The record of what AI agents said and did: append-only, durable, provable.")
    .version(version(), "-V, --version")
    .exitOverride();
  for (const command of COMMANDS) {
    const sub = program.command(command.name).description(command.summary).exitOverride();
    for (const option of command.options) sub.option(option.flags, option.summary, option.default);
    sub.addHelpText(
      "after",
      ["", "Examples:", ...command.examples.map((e) => `  ${e}`)].join("\n"),
    );
    sub.action(async () => {
      exitCode = await command.run({ args: sub.args, options: sub.opts(), io });
    });
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    io.progress(null);
    // Commander has said what was wrong by itself; help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof UsageError) {
      io.err(`error: ${error.message}`);
      return EXIT_USAGE;
    }
    if (error instanceof VerbatimError) {
      io.err(`error: ${error.message} (${error.code})`);
      return EXIT_IO;
    }
    throw error;
  }
}

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

// A reader that has seen enough (`verbatim … | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exitCode = 0;
});

process.exitCode = await main(process.argv.slice(2));
