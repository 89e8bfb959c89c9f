/**
 * The command line as a user runs it: its entry point in a process other than the test's, with a
 * test home directory. Commands that run to their end share processes (command-servers.ts), unless the
 * test is about the process itself.
 *
 * Runs from `dist` if it is up to date, else compiles the sources.
 */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { Child } from "../support/child.ts";
import { type Answered, runCommand } from "../support/command-servers.ts";
import { compiledProgram } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const source = ["--import", tsx, join(root, "src/cli/main.ts")];
const hasDist = isBuilt();
/** Node's arguments to run the command. */
export const main: [string] = [
  hasDist ? join(root, "dist/cli/main.js") : compiledProgram("src/cli/main.ts"),
];

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  /** Reads no further than this many bytes of stdout, as `head` does. */
  readonly stdoutBytesMax?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Where stdin comes from instead of from `input`. */
  readonly stdinFrom?: number;
  /** Where stdout goes instead of to us. */
  readonly stdoutTo?: number;
  /** Always from the sources, each in its own module. */
  readonly isFromSource?: boolean;
  /** In its own process, for tests of the process: its start, its end, its memory. */
  readonly isOwnProcess?: boolean;
  /** For a command with much to do. */
  readonly stuckAfterMs?: number;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly typed?: string;
  readonly columns?: number;
  /** 0: unknown, so that no pager is used. */
  readonly rows?: number;
}

/** A command that takes longer hangs: it is killed, and the error says in which call. */
const STUCK_AFTER_MS = 60_000;

/** Limits of the product that a slow machine would exceed: a test that is about one sets it. */
const PATIENT = { VERBATIM_CLOSE_MS: "60000" };
/** Stores of other tests of this user are not found; tests of that set it to 1. */
const FORGETFUL = { VERBATIM_REMEMBER: "0" };

/** A directory to run in and a home, both empty at first, for one test. */
export class CliUser {
  readonly cwd = tempDirectory();
  readonly home: string;

  constructor(home = tempDirectory()) {
    this.home = home;
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    let stuck = "";
    const onStuck = (child: ChildProcess) => {
      stuck = threadsOf(child.pid);
      child.kill("SIGKILL");
    };
    const env = this.#env(options.env);
    const input = Buffer.from(options.input ?? "");
    const { stuckAfterMs = STUCK_AFTER_MS } = options;
    const { code, ...printed } = needsOwnProcess(options)
      ? await this.#runAlone(args, options, onStuck)
      : await runCommand(main[0], { args, cwd: this.cwd, env, input }, stuckAfterMs, onStuck);
    const [stdout, stderr] = [printed.stdout.toString("utf8"), printed.stderr.toString("utf8")];
    if (stuck !== "") {
      const said = `It printed ${JSON.stringify([stdout, stderr])}.`;
      throw new Error(`verbatim ${args.join(" ")} hangs. ${said} Its threads:\n${stuck}`);
    }
    return { code, stdout, stderr };
  }

  async #runAlone(
    args: readonly string[],
    options: RunOptions,
    onStuck: (child: ChildProcess) => void,
  ): Promise<Answered> {
    const { env, stdinFrom = "pipe", stdoutTo = "pipe" } = options;
    const { stuckAfterMs = STUCK_AFTER_MS } = options;
    const argv = [...(options.isFromSource ? source : main), ...args];
    const child = this.#spawn(argv, { env: this.#env(env), stdio: [stdinFrom, stdoutTo, "pipe"] });
    child.stdin?.on("error", () => {}); // The command may end before it has read everything.
    child.stdin?.end(options.input ?? "");
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let read = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      out.push(chunk);
      read += chunk.length;
      if (read >= (options.stdoutBytesMax ?? Number.POSITIVE_INFINITY)) child.stdout?.destroy();
    });
    child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
    const deadline = setTimeout(() => onStuck(child), stuckAfterMs);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(deadline);
    return { code, stdout: Buffer.concat(out), stderr: Buffer.concat(err) };
  }

  /** Runs a command with a closed stdout pipe; returns its own exit code. */
  async runWithClosedStdout(
    args: readonly string[],
  ): Promise<{ code: number | null; stderr: string }> {
    const script = ["-o", "pipefail", "-c", '"$@" | true', "bash", process.execPath];
    const child = spawn("bash", [...script, ...main, ...args], {
      cwd: this.cwd,
      env: this.#env(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    const err: Buffer[] = [];
    child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stderr: textOf(err) };
  }

  /** Starts a command to interact with; killed when the test is over. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const running = new Running(this.#spawn([...main, ...args], { env: this.#env(env) }));
    onTestFinished(() => running.kill());
    return running;
  }

  /** Runs a command in its own terminal; returns the terminal's output, stderr included. */
  async runInTerminal(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    return (await this.atTerminal(args, { env })).shown;
  }

  /** The same with typed input, if any, and the exit code. */
  async atTerminal(
    args: readonly string[],
    { env = {}, typed, columns = 80, rows = 0 }: TerminalOptions,
  ): Promise<{ code: number | null; shown: string }> {
    const command = [process.execPath, ...main, ...args].map(quoted).join(" ");
    const size = `stty cols ${columns} rows ${rows}`;
    const child = spawn("script", ["-qec", `${size}; ${command}`, "/dev/null"], {
      cwd: this.cwd,
      env: { ...this.#env(env), TERM: "xterm", SHELL: "/bin/sh" },
      stdio: [typed === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    child.stdin?.end(typed);
    const out: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, shown: textOf(out).replaceAll("\r\n", "\n") }; // The terminal's own line ends.
  }

  /** Starts a command in its own terminal, to type while it runs; killed when the test is over. */
  startAtTerminal(args: readonly string[]): AtTerminal {
    const command = ["exec", ...[process.execPath, ...main, ...args].map(quoted)].join(" ");
    const child = spawn("script", ["-qec", `stty cols 80; ${command}`, "/dev/null"], {
      cwd: this.cwd,
      env: { ...this.#env(), TERM: "xterm", SHELL: "/bin/sh" },
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    return new AtTerminal(child);
  }

  #spawn(argv: readonly string[], options: SpawnOptions): ChildProcess {
    return spawn(process.execPath, argv, { cwd: this.cwd, ...options });
  }

  #env(env: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { PATH: process.env.PATH ?? "", HOME: this.home, ...PATIENT, ...FORGETFUL, ...env };
  }
}

/** A command that runs in a terminal. */
export class AtTerminal {
  shown = "";
  readonly #process: ChildProcess;
  readonly #closed: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.#process = child;
    child.stdout?.on("data", (chunk: Buffer) => {
      this.shown += chunk.toString("utf8");
    });
    this.#closed = once(child, "close").then(([code]) => code as number | null);
  }

  /** Resolves when this is on the screen; rejects if the command ends before. */
  async shows(text: string): Promise<void> {
    await until(() => {
      const isShown = this.shown.includes(text);
      if (isShown || this.#process.exitCode === null) return isShown;
      throw new Error(`it ended; it showed: ${this.shown}`);
    }, `${text} on the screen`);
  }

  type(text: string): void {
    this.#process.stdin?.write(text);
  }

  /** The exit code, when it ends. */
  ended(): Promise<number | null> {
    return this.#closed;
  }
}

/** A running command. */
export class Running extends Child {
  readonly #process: ChildProcess;
  readonly #err: Buffer[] = [];

  constructor(process: ChildProcess) {
    super(process);
    this.#process = process;
    process.stderr?.on("data", (chunk: Buffer) => this.#err.push(chunk));
  }

  get stderr(): string {
    return textOf(this.#err);
  }

  /** Resolves when this is printed on stderr. */
  async saysOnStderr(text: string): Promise<void> {
    await until(() => {
      const isSaid = this.stderr.includes(text);
      if (isSaid || this.#process.exitCode === null) return isSaid;
      throw new Error(`it ended; stderr: ${this.stderr}`);
    }, `${text} on stderr`);
  }

  /** Writes bytes unchanged, without a line end. */
  write(text: string): void {
    this.#process.stdin?.write(text);
  }

  endInput(): void {
    this.#process.stdin?.end();
  }

  signal(signal: "SIGINT" | "SIGTERM"): void {
    this.#process.kill(signal);
  }

  /** The next line it prints, as JSON. */
  async json(): Promise<Record<string, unknown>> {
    const line = await this.line();
    if (line === null) throw new Error(`it printed nothing more; stderr: ${this.stderr}`);
    return JSON.parse(line);
  }
}

/** Every line of a command's output, as JSON. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Values as lines of input. */
export function asLines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** Whether a command needs something that a command server (command-servers.ts) does not have. */
function needsOwnProcess(options: RunOptions): boolean {
  const { isOwnProcess, isFromSource, stdoutBytesMax, stdinFrom, stdoutTo, env = {} } = options;
  const isForNode = Object.keys(env).some((name) => /^(NODE|UV|LD)_/.test(name));
  const descriptors = [stdoutBytesMax, stdinFrom, stdoutTo];
  if (!hasDist) return true; // One file: a server would load all of it for each command.
  if (isOwnProcess || isFromSource || isForNode) return true;
  return descriptors.some((each) => each !== undefined);
}

/** Where each thread of a process waits, and in which call, from the kernel. */
function threadsOf(pid: number | undefined): string {
  const threads = `/proc/${pid}/task`;
  const fact = (id: string, name: string) => {
    try {
      return readFileSync(join(threads, id, name), "utf8").trim();
    } catch (error) {
      return String(error);
    }
  };
  return readdirSync(threads)
    .map((id) => `${fact(id, "comm")}: ${fact(id, "wchan")}, ${fact(id, "syscall")}`)
    .join("\n");
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
