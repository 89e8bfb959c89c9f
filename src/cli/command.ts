/**
 * Command: what one subcommand of `verbatim` declares. `main.ts` makes a command line of these.
 *
 * A command parses, calls the library and prints. Results go to `io.out`, everything else to
 * `io.err`. It returns its exit code: 0 well, 2 wrong usage, 7 not found or I/O, and 1 where
 * it was asked to look for something bad and found it.
 */

export interface Io {
  /** Results, for people and pipes. */
  out(text: string): void;
  /** Everything else. */
  err(text: string): void;
  /** A line that replaces the one before it, on a terminal only; null takes it away. */
  progress(text: string | null): void;
}

export interface CommandOption {
  /** As the help shows it: `--seed <number>`, or `--json` for a switch. */
  readonly flags: string;
  readonly summary: string;
  readonly default?: string;
}

export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly io: Io;
}

export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CommandOption[];
  readonly examples: readonly string[];
  run(run: Run): Promise<number>;
}

/** Wrong usage: the message is shown with the command's help, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A whole number from `least` to `most`, or wrong usage. */
export function wholeNumber(flag: string, text: unknown, least: number, most = 1e15): number {
  const number = typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(
    `${flag} takes a whole number from ${least} to ${most}, not ${String(text)}`,
  );
}
