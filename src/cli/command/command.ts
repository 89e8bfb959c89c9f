/**
 * Command: what one subcommand of `verbatim` declares. `main.ts` builds the command line from
 * these.
 *
 * A command parses, calls the library and prints. Results go to `io.out` and `io.print`, everything
 * else to `io.err`. It returns its exit code: 0 success, 2 wrong usage, 7 not found or I/O, and 1
 * if it was asked to look for a problem and found one.
 *
 * C1  A command's file imports nothing heavy: `run` imports what it needs. All commands are loaded
 *     to print one's help.
 */

export interface Io {
  /** One line of results. */
  out(line: string): void;
  /**
   * Prints results unchanged; resolves when there is room for more. Throws OutputClosed if stdout
   * was closed, unless `goOnUnread` was called.
   */
  print(text: string | Uint8Array): Promise<void>;
  /**
   * From now on, output to a closed stdout is dropped. For a command whose result is its exit code:
   * it must be correct even if the pipe closes early (`verify | grep -q …`).
   */
  goOnUnread(): void;
  /** Everything else. Control characters are shown escaped. */
  err(text: string): void;
  /** A line that replaces the previous one, on a terminal only; null removes it. */
  progress(text: string | null): void;
  /** Whether results go to a terminal. */
  readonly isTerminal: boolean;
  /** Whether results may be coloured: on a terminal, unless NO_COLOR is set. */
  readonly hasColour: boolean;
  /** Width of the terminal. */
  readonly columns: number;
  /** Its height; null if unknown. */
  readonly rows: number | null;
  /** Standard input. */
  readonly input: NodeJS.ReadStream;
  /** From now on the first SIGINT or SIGTERM aborts this signal instead of ending the process. */
  interruption(): AbortSignal;
}

export interface CommandOption {
  /** As the help shows it: `--seed <number>`, or `--json` for a switch. */
  readonly flags: string;
  readonly summary: string;
  readonly default?: string;
  /** The only accepted values. */
  readonly choices?: readonly string[];
  /** May be given more than once; all values count. */
  readonly isRepeatable?: true;
  /** Many commands have it: `verbatim help options` explains it, and no command's own help. */
  readonly isShared?: boolean;
}

/** The value of an option; a list for a repeatable one. */
export type OptionValue = string | boolean | readonly string[] | undefined;

export interface CommandArgument {
  /** `<session>` if required, `[session]` if optional. */
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
  /** Commands below it, next to what it does itself: `verbatim guard`, `verbatim guard status`. */
  readonly commands?: readonly CliCommand[];
  run(run: Run): Promise<number>;
}

/** A name with commands of its own: `verbatim keys rotate`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly AnyCommand[];
}

export type AnyCommand = CliCommand | CommandGroup;

export function isGroup(command: AnyCommand): command is CommandGroup {
  return !("run" in command);
}

/** Wrong usage: the message is shown with a pointer to the help, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The reader closed the pipe (`verbatim … | head`). Not a failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** More than anything that is counted; no message says it. */
const NUMBER_MAX = 1e15;

/** A whole number from `least` to `most`, or wrong usage. */
export function wholeNumber(flag: string, text: unknown, least: number, most = NUMBER_MAX): number {
  const number = typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  const range = most === NUMBER_MAX ? `, ${least} or more` : ` from ${least} to ${grouped(most)}`;
  throw new UsageError(`${flag} takes a whole number${range}, not ${String(text)}`);
}

function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

/** An option's text; undefined if it was not given, wrong usage if it is empty. */
export function textOption(flag: string, value: OptionValue): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value === "") throw new UsageError(`${flag} needs a value; the one given is empty`);
  return value;
}

/** All values of a repeatable option; undefined if it was not given. */
export function textOptions(flag: string, value: OptionValue): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each) => textOption(flag, each) ?? "");
}
