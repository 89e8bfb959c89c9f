/**
 * Hook: `verbatim record --from claude-code-hooks`: what Claude Code tells a hook on stdin becomes one
 * entry of its session. Each hook is a process of its own, for one append under the session's lock.
 *
 * HK1  The agent is never held up: the exit code is 0, nothing is said on stdout, and after
 *      so many milliseconds it is over, whatever happened. (2 would stop the agent's tool; stdout would be
 *      given to the model.)
 * HK2  What was not recorded is told on stderr and, with the reason, in a log that is named there;
 *      never with what the hook was told.
 * HK3  A hook that was recorded is durable, and says so by saying nothing.
 */

import type { Readable } from "node:stream";
import { VerbatimError } from "../base/errors.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { nodeHost } from "../base/node-host.ts";
import { HOOKS_PROJECT, hookLine } from "../dialects/claude/hooks.ts";
import { sessionIdOf } from "../dialects/claude/session-id.ts";
import { getString, isObject, type JsonObject } from "../dialects/fields.ts";
import { decodeLine } from "../log/json.ts";
import { Store } from "../store/store.ts";
import { type Run, textOption, UsageError, wholeNumber } from "./command.ts";
import { inexactNumber } from "./exact-numbers.ts";
import { logFailure } from "./hook-log.ts";

/** All of a hook: reading, waiting for the lock, writing. Claude Code itself waits longer. */
const WITHIN_MS = 10_000;
const WITHIN_MS_LEAST = 100;
const WITHIN_MS_MOST = 60_000;
/** What has no meaning here: whose session it is, the hook says. */
const OTHERS = {
  dialect: "--dialect",
  directive: "--directive",
  agent: "--agent",
  model: "--model",
  agentVersion: "--agent-version",
  session: "--session",
  envelope: "--envelope",
  ack: "--ack",
} as const;

/** Why there is nothing that could be recorded, without any of what was told. */
class HookFault extends Error {
  override readonly name = "HookFault";
}

interface Told {
  readonly hook: JsonObject;
  readonly sessionId: string;
  /** The text as it came, where it says more than the object. */
  readonly text: string | null;
}

export async function recordHook(run: Run): Promise<0> {
  const { io } = run;
  const tell = (failure: unknown) => {
    const path = logFailure(failure, Date.now());
    const code = failure instanceof VerbatimError ? ` (${failure.code})` : "";
    const why = path === null ? `no log can be written, either: ${failure}` : `why: ${path}`;
    io.err(`verbatim: a hook was not recorded${code}; ${why}`);
  };
  const end = (failure: unknown) => {
    tell(failure);
    process.exit(0); // HK1: whatever is still under way.
  };
  process.on("uncaughtException", end);
  let timer: NodeJS.Timeout | undefined;
  let input: Readable | null = null;
  try {
    const withinMs = withinOf(run);
    timer = setTimeout(() => end(new HookFault(`it took over ${withinMs} ms`)), withinMs);
    input = io.input;
    await recordTold(run, await readHook(input), withinMs);
  } catch (failure) {
    tell(failure);
  }
  clearTimeout(timer);
  input?.destroy();
  return 0;
}

function withinOf({ options }: Run): number {
  const [, other] = Object.entries(OTHERS).find(([name]) => options[name] !== undefined) ?? [];
  if (other !== undefined) throw new UsageError(`${other} has no meaning with --from`);
  const { within = String(WITHIN_MS) } = options;
  return wholeNumber("--within", within, WITHIN_MS_LEAST, WITHIN_MS_MOST);
}

async function recordTold({ options }: Run, told: Told, withinMs: number): Promise<void> {
  const { hook, sessionId, text } = told;
  const root = textOption("--root", options.root) ?? process.env.CLAUDE_PROJECT_DIR;
  const store = new Store(nodeHost, {
    dialect: "claude",
    root: root || (getString(hook, "cwd") ?? "."),
    mode: "shared",
    durability: options.durability === "os" ? "os" : "disk",
    sign: (options.sign ?? false) as boolean | "turn" | "append",
    lockWaitMs: Math.floor(withinMs / 2), // And time is left to say why.
    onWarning: (warning) => void logFailure(new HookFault(warning), Date.now()),
  });
  try {
    const session = store.session(sessionIdOf({ projectKey: HOOKS_PROJECT, sessionId }));
    await session.appendNative(hookLine(hook, { nowMs: Date.now(), text }));
  } finally {
    await store.close();
  }
}

async function readHook(input: Readable): Promise<Told> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= LOG_LIMITS.lineBytesMax) chunks.push(chunk); // The rest is read, and let go.
  }
  if (length > LOG_LIMITS.lineBytesMax) {
    throw new HookFault(`stdin held ${length} bytes, over ${LOG_LIMITS.lineBytesMax}`);
  }
  const bytes = Buffer.concat(chunks);
  const { value: hook, fault } = decodeLine(bytes, 0, bytes.length);
  if (fault !== null) throw new HookFault(`stdin is ${fault}`);
  if (!isObject(hook)) throw new HookFault("stdin is no JSON object");
  const sessionId = getString(hook, "session_id");
  if (!sessionId) throw new HookFault("what stdin holds has no session_id");
  const text = bytes.toString("utf8");
  return { hook, sessionId, text: inexactNumber(text) === null ? null : text.trim() };
}
