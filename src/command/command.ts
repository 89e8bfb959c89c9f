/**
 * Command: what one subcommand of `verbatim` declares. `main.ts` makes a command line of these.
 *
 * A command parses, calls the library and prints. Results go to `io.out` and `io.print`, everything
 * else to `io.err`. It returns its exit code: 0 well, 2 wrong usage, 7 not found or I/O, and 1
 * where it was asked to look for something bad and found it.
 *
 * C1  A command's file loads nothing heavy by itself: `run` imports what it needs. All commands are
 *     loaded to print one's help.
 */

export interface Io {
  /** One line of results. */
  out(line: string): void;
  /**
   * Results as they are, however many; resolves when there is room for more. Throws OutputClosed
   * when nobody reads them any longer, unless `goOnUnread` was called.
   */
  print(text: string | Uint8Array): Promise<void>;
  /**
   * From now on, what nobody reads is dropped. For a command whose answer is its exit code: whoever
   * has read enough of it (`verify | grep -q …`) must still learn how it ends.
   */
  goOnUnread(): void;
  /** Everything else. Control characters in it are shown, not sent. */
  err(text: string): void;
  /** A line that replaces the one before it, on a terminal only; null takes it away. */
  progress(text: string | null): void;
  /** Whether results go to a terminal, and so to a person. */
  readonly isTerminal: boolean;
  /** Whether they may be coloured: on a terminal, unless NO_COLOR is set. */
  readonly hasColour: boolean;
  /** How wide the terminal is. */
  readonly columns: number;
  /** What is piped in. */
  readonly input: NodeJS.ReadStream;
  /** From now on SIGINT and SIGTERM abort this signal instead of ending the process; once. */
  interruption(): AbortSignal;
}

export interface CommandOption {
  /** As the help shows it: `--seed <number>`, or `--json` for a switch. */
  readonly flags: string;
  readonly summary: string;
  readonly default?: string;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  /** It may be given more than once, and all of it counts. */
  readonly isRepeatable?: true;
}

/** What an option was given; a list for one that may be given more than once. */
export type OptionValue = string | boolean | readonly string[] | undefined;

export interface CommandArgument {
  /** `<session>` when it must be given, `[session]` when it may. */
  readonly name: string;
  readonly summary: string;
}

export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, OptionValue>>;
  readonly io: Io;
}

export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: readonly CommandArgument[];
  readonly options: readonly CommandOption[];
  readonly examples: readonly string[];
  run(run: Run): Promise<number>;
}

/** A name with commands of its own: `verbatim keys rotate`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CliCommand[];
}

/** Wrong usage: the message is shown with where to find help, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Whoever read our results has seen enough (`verbatim … | head`). No failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** A whole number from `least` to `most`, or wrong usage. */
export function wholeNumber(flag: string, text: unknown, least: number, most = 1e15): number {
  const number = typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(
    `${flag} takes a whole number from ${least} to ${most}, not ${String(text)}`,
  );
}

/** An option's text; undefined when it was not given, wrong usage when it is empty. */
export function textOption(flag: string, value: OptionValue): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value === "") throw new UsageError(`${flag} needs a value; the one given is empty`);
  return value;
}

/** All that a repeatable option was given; undefined when it was not. */
export function textOptions(flag: string, value: OptionValue): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each) => textOption(flag, each) ?? "");
}
