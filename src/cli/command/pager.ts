/**
 * Pager: prints through the user's pager what is longer than the screen.
 *
 * - The pager starts with the first line that does not fit. Until then nothing is printed.
 * - While it has the terminal, messages wait, and the first Ctrl-C is the pager's.
 * - Leaving it early closes the output, which is no failure (OutputClosed).
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type Io, OutputClosed, UsageError } from "./command.ts";
import { widthOf } from "./table.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: our colours begin with one.
const COLOURS = /\u001b\[[\d;]*m/g;
/** The shell did not find it, or may not run it. */
const NOT_RUN: readonly (number | null)[] = [126, 127];

/** Runs `work` with an output that goes to a pager if it is long. */
export async function withPager(
  io: Io,
  work: (io: Io) => Promise<number>,
  command = process.env.PAGER,
): Promise<number> {
  if (!io.isTerminal || io.rows === null || command === "" || command === "cat") return work(io);
  const pager = new Pager(io, io.rows, command);
  try {
    return await work(pager.io);
  } finally {
    await pager.finish(); // Also if it failed: show what came before that.
    await pager.close();
  }
}

class Pager {
  readonly io: Io;
  readonly #terminal: Io;
  readonly #command: string | undefined;
  /** Lines that still fit. */
  #room: number;
  #waiting = "";
  #process: ChildProcess | null = null;
  #ended: Promise<unknown> | null = null;
  #isPlain = false;
  readonly #messages: string[] = [];

  constructor(terminal: Io, rows: number, command: string | undefined) {
    this.#terminal = terminal;
    this.#command = command;
    this.#room = rows - 1; // The prompt has the last one.
    // An object with these as its own properties: the others are read from the terminal's.
    this.io = Object.create(terminal, {
      print: { value: (text: string | Uint8Array) => this.#print(text) },
      out: { value: (line: string) => void this.#print(`${line}\n`) },
      err: { value: (text: string) => this.#tell(text) },
      progress: { value: () => {} },
    });
  }

  async #print(piece: string | Uint8Array): Promise<void> {
    const text = typeof piece === "string" ? piece : Buffer.from(piece).toString();
    if (this.#isPlain) return this.#terminal.print(text);
    if (this.#process !== null) return this.#write(this.#process, text);
    this.#waiting += text;
    this.#room -= rowsOf(text, this.#terminal.columns);
    if (this.#room < 0) await this.#start();
  }

  /** What fits needs no pager. */
  async finish(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    if (text !== "") await this.#terminal.print(text);
  }

  /** Waits until the reader leaves. */
  async close(): Promise<void> {
    this.#process?.stdin?.end();
    await this.#ended;
    process.off("SIGINT", ignore);
    for (const message of this.#messages) this.#terminal.err(message);
    if (this.#process === null || !NOT_RUN.includes(this.#process.exitCode)) return;
    throw new UsageError(`PAGER is ${this.#command}, which cannot be run; --no-pager needs none`);
  }

  async #start(): Promise<void> {
    const { spawn } = await import("node:child_process");
    const env = { LESS: "FRX", LESSCHARSET: "utf-8", ...process.env };
    const stdio = ["pipe", "inherit", "inherit"] as const;
    const [program, ...args] = this.#command ? ["sh", "-c", this.#command] : ["less", "-R"];
    const child = spawn(program, args, { env, stdio: [...stdio] });
    try {
      await once(child, "spawn");
    } catch {
      this.#isPlain = true; // There is no `less`.
      return this.finish();
    }
    child.stdin?.on("error", () => {}); // The reader left.
    this.#process = child;
    this.#ended = once(child, "close");
    process.on("SIGINT", ignore);
    await this.#write(child, this.#waiting);
    this.#waiting = "";
  }

  async #write({ stdin }: ChildProcess, text: string): Promise<void> {
    if (stdin === null || stdin.destroyed) throw new OutputClosed();
    if (stdin.write(text)) return;
    await Promise.race([once(stdin, "drain").catch(() => {}), this.#ended]);
    if (stdin.destroyed) throw new OutputClosed();
  }

  #tell(text: string): void {
    if (this.#process === null) this.#terminal.err(text);
    else this.#messages.push(text);
  }
}

function ignore(): void {}

/** Rows of the terminal that a text takes; a long line takes several. */
function rowsOf(text: string, columns: number): number {
  const lines = text.replace(COLOURS, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}
