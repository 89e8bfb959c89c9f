/** Server process: one of the servers, running; its costs, as the kernel counts them. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export type Kind = "ours" | "reference";

const SERVE = fileURLToPath(new URL("./serve.mjs", import.meta.url));
const CLIENT = fileURLToPath(new URL("./client.mjs", import.meta.url));
/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Kills the servers when the bench ends. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  /** From the start of the process until it printed its URL. */
  readonly startedMs: number;

  private constructor(child: ChildProcess, url: string, startedMs: number) {
    this.#child = child;
    this.url = url;
    this.startedMs = startedMs;
  }

  /** `program` gets the kind, the directory and `args`. */
  static async start(
    kind: string,
    directory: string,
    program = SERVE,
    ...args: readonly string[]
  ): Promise<ServerProcess> {
    const start = performance.now();
    const child = spawn(process.execPath, [program, kind, directory, ...args], {
      // The reference prints much about what it finds after a kill.
      stdio: ["ignore", "pipe", kind === "reference" ? "ignore" : "inherit"],
    });
    running.add(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const [url] = /http:\/\/[\w.:]+/.exec(line) ?? [];
      if (url !== undefined) return new ServerProcess(child, url, performance.now() - start);
    }
    throw new Error(`${kind} did not start`);
  }

  /** Runs a task of the client, in its own process. */
  async ask<T>(name: string, options: object): Promise<T> {
    const task = JSON.stringify({ name, ...options });
    const client = spawn(process.execPath, [CLIENT, this.url, task], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let answer = "";
    client.stdout.on("data", (text) => {
      answer += text;
    });
    const [code] = await once(client, "close");
    if (code !== 0) throw new Error(`${name} failed`);
    return JSON.parse(answer) as T;
  }

  /** Processor time so far. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }

  /** The peak memory since `forgetPeak`, in megabytes. */
  peakMegabytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }

  forgetPeak(): void {
    writeFileSync(`/proc/${this.#child.pid}/clear_refs`, "5");
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
    running.delete(this.#child);
    spawnSync("sync"); // The next server must not wait for dirty pages of this one.
  }
}
