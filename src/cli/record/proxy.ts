/** `verbatim proxy`: records calls to models that pass through it, of a command or of any program. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { resolve } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Durability } from "../../core/log/log-options.ts";
import { type RecorderThread, startRecorder } from "../../integrations/proxy/recorder-thread.ts";
import type { Unrecorded } from "../../integrations/proxy/recording.ts";
import {
  type Replay,
  type ReverseProxy,
  startProxy,
} from "../../integrations/proxy/reverse-proxy.ts";
import { type Io, type Run, textOption, UsageError, wholeNumber } from "../command/command.ts";

const PORT_MAX = 65_535;
const CALLS_MAX = 1e9;

/** The variable that names a program's provider, and where that is without one. */
const PROVIDERS = [
  { folder: "anthropic", variable: "ANTHROPIC_BASE_URL", url: "https://api.anthropic.com" },
  { folder: "openai", variable: "OPENAI_BASE_URL", url: "https://api.openai.com/v1" },
  {
    folder: "gemini",
    variable: "GOOGLE_GEMINI_BASE_URL",
    url: "https://generativelanguage.googleapis.com",
  },
] as const;

export async function runProxy(run: Run): Promise<number> {
  const { args, options, io } = run;
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
  const replay = await replayOf(run);
  const recorder =
    replay?.callsMax === Number.POSITIVE_INFINITY ? null : await recorderOf(run, root);
  const sink = recorder?.sink ?? (async () => {});
  const proxy = await startProxy({ upstreams, port, sink, replay }).catch(async (cause) => {
    await recorder?.close();
    throw cause;
  });
  const addresses = PROVIDERS.map(({ folder, variable }) => {
    return [variable, to === undefined ? `${proxy.url}/${folder}` : proxy.url] as const;
  });
  const [command, ...rest] = args;
  const purpose = recorder === null ? `replaying ${replay?.recording.id}` : `recording in ${root}`;
  const code =
    command === undefined
      ? await runUntilStopped(addresses, purpose, io)
      : await runCommand(command, rest, Object.fromEntries(addresses));
  await proxy.close();
  await recorder?.close();
  tellCalls(proxy, root, io);
  return code;
}

async function recorderOf({ options, io }: Run, root: string): Promise<RecorderThread> {
  const sign = (options.sign ?? false) as boolean | "turn" | "append";
  const durability = options.durability as Durability;
  let isReported = false;
  return startRecorder({ root, sign, durability, raw: options.raw === true }, (problem) => {
    if (!isReported) io.err(`verbatim: calls are not recorded, and go on: ${problem}`);
    isReported = true;
  });
}

async function replayOf({ options, io }: Run): Promise<Replay | null> {
  const name = textOption("--replay", options.replay);
  const after = textOption("--live-after", options.liveAfter);
  if (name === undefined) {
    if (after === undefined) return null;
    throw new UsageError("--live-after continues a replay: name its session with --replay");
  }
  if (after === undefined && (options.raw === true || options.sign !== undefined)) {
    throw new UsageError("a replay records nothing, unless it continues with --live-after");
  }
  const { openRecording } = await import("../../integrations/proxy/recording.ts");
  const recording = await openRecording(nodeHost, name, {
    cwd: process.cwd(),
    root: textOption("--root", options.root),
  });
  if (recording === null) {
    throw new UsageError(`${name} has no calls as they were: record it with verbatim proxy --raw`);
  }
  if (recording.damaged > 0) {
    const calls = recording.damaged === 1 ? "1 call" : `${recording.damaged} calls`;
    io.err(
      `verbatim: ${calls} of ${recording.id} cannot be replayed: changed, erased or too large`,
    );
  }
  const callsMax =
    after === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber("--live-after", after, 0, CALLS_MAX);
  const onUnrecorded = (call: number, { message, path }: Unrecorded) => {
    const why = path === undefined ? message : `it differs at ${path}`;
    io.err(`verbatim: call ${call} was not recorded, and is refused: ${why}`);
  };
  return { recording, callsMax, onUnrecorded };
}

function address(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") return url;
  throw new UsageError(`${name} needs the address of a server, such as https://host/v1`);
}

function tellCalls({ calls: { all, replayed } }: ReverseProxy, root: string, io: Io): void {
  const counted = (count: number) => `${count} ${count === 1 ? "call" : "calls"}`;
  if (all === 0) io.err("verbatim: no call to a model came through the proxy");
  if (replayed > 0) io.err(`verbatim: ${counted(replayed)} taken by the replay`);
  if (all > replayed) io.err(`verbatim: ${counted(all - replayed)} recorded in ${root}`);
}

async function runUntilStopped(
  addresses: readonly (readonly [string, string])[],
  purpose: string,
  io: Io,
): Promise<number> {
  const signal = io.interruption();
  for (const [variable, url] of addresses) io.out(`export ${variable}=${url}`);
  io.err(`${purpose}; give your program one of these addresses. Ctrl-C ends`);
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
