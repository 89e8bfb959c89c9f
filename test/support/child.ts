/** A child: a TypeScript program in its own process, which a test talks to in lines and kills. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { compiledProgram } from "./program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export class Child {
  readonly pid: number;
  readonly #process: ChildProcess;
  /** Resolves when the process and its output have ended. */
  readonly #ended: Promise<unknown>;
  #lines: string[] = [];
  #rest = "";
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(process: ChildProcess) {
    if (process.pid === undefined) throw new Error("the child was not started");
    this.pid = process.pid;
    this.#process = process;
    process.stdin?.on("error", () => {}); // A killed child reads no more.
    process.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.#ended = once(process, "close").then(() => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  /** The next line it prints, or null after the last. A line cut short by a kill is dropped. */
  async line(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() ?? null;
  }

  say(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** Kills it with -9, and resolves when it has ended. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** Resolves to its exit code when it ends by itself. */
  async exitCode(): Promise<number | null> {
    await this.#ended;
    return this.#process.exitCode;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    this.#lines.push(...lines);
    this.#wake();
  }
}

/** Starts a program of this repository, named from its root. It is killed when the test is over. */
export function startChild(program: string, ...args: string[]): Child {
  return startCompiled(compiledProgram(program), ...args);
}

/** The same in a process that may have so many files open. */
export function startWithDescriptors(limit: number, program: string, ...args: string[]): Child {
  const command = [process.execPath, compiledProgram(program), ...args];
  const shell = ["-c", `ulimit -n ${limit} && exec "$@"`, "sh", ...command];
  const child = new Child(spawn("sh", shell, { cwd: root, stdio: ["pipe", "pipe", "inherit"] }));
  onTestFinished(() => child.kill());
  return child;
}

/** The same for a compiled one (program.ts). */
export function startCompiled(path: string, ...args: string[]): Child {
  const child = new Child(
    spawn(process.execPath, [path, ...args], { cwd: root, stdio: ["pipe", "pipe", "inherit"] }),
  );
  onTestFinished(() => child.kill());
  return child;
}
