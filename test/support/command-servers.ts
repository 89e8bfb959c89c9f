/**
 * Command servers: processes that run commands of the command line one after another
 * (command-server.mjs). Starting Node and loading the modules is most of what a short command
 * costs, and the tests run some ten thousand of them.
 *
 * Each server runs one command at a time. Commands that run at the same time have a process each.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("command-server.mjs", import.meta.url));

export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Buffer;
}

export interface Answered {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

interface Reply extends Answered {
  /** Whether the command left nothing behind in the process. */
  readonly isClean: boolean;
}

/** Servers that wait for a command. */
const idle: CommandServer[] = [];

/** Runs a command to its end. `onStuck` is called with the process if it takes longer than this. */
export async function runCommand(
  main: string,
  asked: Asked,
  stuckAfterMs: number,
  onStuck: (server: ChildProcess) => void,
): Promise<Answered> {
  const server = idle.pop() ?? new CommandServer(main);
  const deadline = setTimeout(() => onStuck(server.process), stuckAfterMs);
  const { isClean, ...answered } = await server.run(asked);
  clearTimeout(deadline);
  if (isClean) idle.push(server);
  else server.process.kill("SIGKILL");
  return answered;
}

class CommandServer {
  readonly process: ChildProcess;
  readonly #out: Buffer[] = [];
  readonly #err: Buffer[] = [];
  #answer: (reply: Reply) => void = () => {};

  constructor(main: string) {
    const env = { PATH: process.env.PATH };
    this.process = spawn(process.execPath, [program, main], {
      cwd: "/",
      env,
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.process.stdout?.on("data", (chunk: Buffer) => this.#out.push(chunk));
    this.process.stderr?.on("data", (chunk: Buffer) => this.#err.push(chunk));
    this.process.on("message", (reply) => this.#answer(reply as Reply));
    // The command ended its process, or something ended it.
    this.process.on("close", (code) => {
      const [stdout, stderr] = [Buffer.concat(this.#out), Buffer.concat(this.#err)];
      this.#answer({ code, stdout, stderr, isClean: false });
      if (idle.includes(this)) idle.splice(idle.indexOf(this), 1);
    });
    for (const each of [this.process, this.process.stdout, this.process.stderr]) {
      (each as { unref?: () => void } | null)?.unref?.();
    }
  }

  async run(asked: Asked): Promise<Reply> {
    this.process.channel?.ref();
    const reply = await new Promise<Reply>((resolve) => {
      this.#answer = resolve;
      this.process.send({ ...asked, args: [...asked.args] });
    });
    this.process.channel?.unref();
    return reply;
  }
}
