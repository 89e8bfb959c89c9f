/** `verbatim proxy`: records calls to models that pass through it, of a command or of any program. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { resolve } from "node:path";
import type { Durability } from "../../core/log/log-options.ts";
import { startRecorder } from "../../integrations/proxy/recorder-thread.ts";
import { type ReverseProxy, startProxy } from "../../integrations/proxy/reverse-proxy.ts";
import { type Io, type Run, textOption, UsageError, wholeNumber } from "../command/command.ts";

const PORT_MAX = 65_535;

/** The variable with which a program is told where its provider is, and where that is without one. */
const PROVIDERS = [
  { folder: "anthropic", variable: "ANTHROPIC_BASE_URL", url: "https://api.anthropic.com" },
  { folder: "openai", variable: "OPENAI_BASE_URL", url: "https://api.openai.com/v1" },
  {
    folder: "gemini",
    variable: "GOOGLE_GEMINI_BASE_URL",
    url: "https://generativelanguage.googleapis.com",
  },
] as const;

export async function runProxy({ args, options, io }: Run): Promise<number> {
  const to = textOption("--to", options.to);
  const upstreams = new Map(
    to === undefined
      ? PROVIDERS.map(({ folder, variable, url }) => {
          return [folder, address(variable, process.env[variable] || url)] as const;
        })
      : [["", address("--to", to)] as const],
  );
  const port = wholeNumber("--port", options.port ?? "0", 0, PORT_MAX);
  const root = resolve(textOption("--root", options.root) ?? ".");
  const sign = (options.sign ?? false) as boolean | "turn" | "append";
  const durability = options.durability as Durability;
  let isTold = false;
  const recorder = await startRecorder({ root, sign, durability }, (problem) => {
    if (!isTold) io.err(`verbatim: calls are not recorded, and go on: ${problem}`);
    isTold = true;
  });
  const proxy = await startProxy({ upstreams, port, sink: recorder.sink }).catch(async (cause) => {
    await recorder.close();
    throw cause;
  });
  const addresses = PROVIDERS.map(({ folder, variable }) => {
    return [variable, to === undefined ? `${proxy.url}/${folder}` : proxy.url] as const;
  });
  const [command, ...rest] = args;
  const code =
    command === undefined
      ? await runUntilStopped(addresses, root, io)
      : await runCommand(command, rest, Object.fromEntries(addresses));
  await proxy.close();
  await recorder.close();
  tell(proxy, root, io);
  return code;
}

function address(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") return url;
  throw new UsageError(`${name} needs the address of a server, such as https://host/v1`);
}

function tell(proxy: ReverseProxy, root: string, io: Io): void {
  const calls = proxy.calls();
  if (calls === 0) io.err("verbatim: no call to a model came through the proxy");
  else io.err(`verbatim: ${calls} ${calls === 1 ? "call" : "calls"} recorded in ${root}`);
}

async function runUntilStopped(
  addresses: readonly (readonly [string, string])[],
  root: string,
  io: Io,
): Promise<number> {
  const signal = io.interruption();
  for (const [variable, url] of addresses) io.out(`export ${variable}=${url}`);
  io.err(`recording in ${root}; give your program one of these addresses. Ctrl-C ends`);
  if (!signal.aborted) await once(signal, "abort");
  return 0;
}

/** As a shell reports a command that cannot be started, or that a signal ended. */
const EXIT_NOT_FOUND = 127;
const EXIT_SIGNALLED = 128;

/** The command's exit code. Signals are the command's: it decides when it ends. */
async function runCommand(
  command: string,
  args: readonly string[],
  addresses: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...addresses } });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  // A terminal sends Ctrl-C to both.
  const ignore = () => {};
  process.on("SIGINT", ignore).on("SIGTERM", forward).on("SIGHUP", forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", (cause: NodeJS.ErrnoException) => {
        if (cause.code !== "ENOENT") return reject(cause);
        process.stderr.write(`verbatim: there is no command ${JSON.stringify(command)}\n`);
        resolve(EXIT_NOT_FOUND);
      });
      child.once("exit", (code, signal) => {
        resolve(code ?? EXIT_SIGNALLED + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  } finally {
    process.off("SIGINT", ignore).off("SIGTERM", forward).off("SIGHUP", forward);
  }
}
