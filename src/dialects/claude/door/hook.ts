/**
 * Hook: `verbatim record --from claude-code-hooks | codex-hooks`: what an agent tells a hook on stdin is
 * recorded in the spool of its store (dialects/claude/hook-spool.ts). Whoever reads the session next,
 * the end of the session, or a server puts it into the session's log.
 *
 * This runs for each hook of an agent that waits for it: no store, no log and no lock is loaded, unless
 * the spool is to be drained. `main.ts` comes here before it loads anything else.
 *
 * HK1  The agent is never held up: the exit code is 0, nothing is said on stdout, and after
 *      so many milliseconds it is over, whatever happened. (2 would stop the agent's tool; stdout would be
 *      given to the model.)
 * HK2  What was not recorded is reported on stderr and, with the reason, in a log that is named there;
 *      never with what the hook was told.
 * HK3  A hook that was recorded is durable, and says so by saying nothing.
 */

import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { errnoOf, VerbatimError } from "../../../base/errors.ts";
import { LOG_LIMITS } from "../../../base/limits.ts";
import { inexactNumber } from "../../../command/exact-numbers.ts";
import { decodeLine } from "../../../log/json.ts";
import { getString, isObject, type JsonObject } from "../../fields.ts";
import { macOf } from "../files/hook-key.ts";
import {
  type HookSource,
  nextOrder,
  SPOOL_PATH,
  SPOOL_WAITING_MAX,
  type SpooledHook,
  sessionOfHook,
  spoolLine,
  spoolName,
  spoolText,
} from "../hook-spool.ts";
import { logFailure } from "./hook-log.ts";

/** What the command line says of a hook. */
export interface HookOptions {
  readonly from: HookSource;
  readonly root: string | undefined;
  readonly durability: "disk" | "os";
  readonly sign: SpooledHook["sign"];
  readonly withinMs: number;
}

/** Why there is nothing that could be recorded, without any of what was told. */
export class HookFault extends Error {
  override readonly name = "HookFault";
}

interface Told {
  readonly hook: JsonObject;
  readonly text: string;
}

/** Records what is on stdin. `options` throws when the command line is wrong. */
export async function recordHook(options: () => HookOptions, input: () => Readable): Promise<0> {
  let timer: NodeJS.Timeout | undefined;
  let stdin: Readable | null = null;
  process.on("uncaughtException", end);
  try {
    const asked = options();
    const { withinMs } = asked;
    timer = setTimeout(() => end(new HookFault(`it took over ${withinMs} ms`)), withinMs);
    stdin = input();
    const told = await readHook(stdin, asked.from);
    const { root, waiting } = spool(told, asked);
    clearTimeout(timer); // It is recorded: from here on, nothing is lost.
    const isEnd = getString(told.hook, "hook_event_name") === "SessionEnd";
    if (isEnd || waiting >= SPOOL_WAITING_MAX) {
      timer = setTimeout(() => process.exit(0), withinMs);
      const { drainAfterHook } = await import("./hook-drain.ts");
      await drainAfterHook(root, withinMs);
    }
  } catch (failure) {
    tell(failure);
  }
  clearTimeout(timer);
  stdin?.destroy();
  return 0;
}

/** HK2 */
function tell(failure: unknown): void {
  const path = logFailure(failure, Date.now());
  const code = failure instanceof VerbatimError ? ` (${failure.code})` : "";
  const why = path === null ? `no log can be written, either: ${failure}` : `why: ${path}`;
  process.stderr.write(`verbatim: a hook was not recorded${code}; ${why}\n`);
}

/** HK1: whatever is still under way. */
function end(failure: unknown): void {
  tell(failure);
  process.exit(0);
}

async function readHook(input: Readable, from: HookSource): Promise<Told> {
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
  if (!isObject(hook)) throw new HookFault("stdin is not a JSON object");
  // A session that no log can have is refused now, not when the hook is drained.
  if (sessionOfHook(from, hook) === null) throw new HookFault("stdin has no session_id");
  return { hook, text: bytes.toString("utf8") };
}

/** Writes the hook's file; how many wait with it. */
function spool({ hook, text }: Told, asked: HookOptions): { root: string; waiting: number } {
  const { from, sign, durability } = asked;
  const root = resolve(
    asked.root || process.env.CLAUDE_PROJECT_DIR || (getString(hook, "cwd") ?? "."),
  );
  const spooled: SpooledHook = {
    ...{ id: randomUUID(), at: new Date().toISOString(), from, sign, durability },
    ...{ isExact: inexactNumber(text) === null, hook: text },
  };
  const line = spoolLine(spooled, sign === false ? null : macOf(spoolText(spooled)));
  const directory = spoolDirectory(root, durability === "disk");
  const names = readdirSync(directory);
  const name = spoolName(nextOrder(names, Date.now()), spooled.id);
  writeNew(join(directory, name), line, durability === "disk");
  if (durability === "disk") syncDirectory(directory);
  return { root, waiting: names.length + 1 };
}

/** The spool, made where it is missing. A link on the way is refused: it may lead anywhere. */
function spoolDirectory(root: string, isDurable: boolean): string {
  let directory = root;
  for (const name of SPOOL_PATH) {
    const above = directory;
    directory = join(directory, name);
    try {
      mkdirSync(directory, { mode: 0o700 });
      // As store/own-directory.ts does: what a new `.verbatim` holds is kept out of Git.
      if (above === root) writeFileSync(join(directory, ".gitignore"), "*\n", { mode: 0o600 });
      if (isDurable) syncDirectory(above);
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST") throw cause;
      if (!lstatSync(directory).isDirectory()) {
        throw new HookFault(`${directory} is not a directory of its own`);
      }
    }
  }
  return directory;
}

/** What could not be written whole is taken away again: it would be taken for one under way. */
function writeNew(path: string, line: string, isDurable: boolean): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    if (isDurable) fsyncSync(file);
  } catch (cause) {
    unlinkSync(path);
    throw cause;
  } finally {
    closeSync(file);
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
