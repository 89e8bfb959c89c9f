/**
 * Hook: `verbatim record --from claude-code-hooks | codex-hooks`. Writes the hook's stdin to the
 * store's spool (dialects/hooks/hook-spool.ts). The next reader of the session, the end of the
 * session, or a server moves it into the session's log.
 *
 * The agent waits for every hook. So this loads no store, log or lock unless it has to drain the
 * spool, and `cli/main.ts` calls it before it loads anything else.
 *
 * - It never blocks the agent: the exit code is 0, stdout stays empty, and it exits after a time
 *   limit. (Exit code 2 would stop the agent's tool; stdout would go to the model.)
 * - A failure to record is reported on stderr, and with its reason in a log named there. Neither
 *   contains the payload.
 * - A recorded hook is durable; success prints nothing.
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
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { inexactNumber } from "../../core/base/exact-numbers.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { decodeLine } from "../../core/log/json.ts";
import { macOf } from "../../dialects/hooks/files/hook-key.ts";
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
} from "../../dialects/hooks/hook-spool.ts";
import { getString, isObject, type JsonObject } from "../../dialects/shared/fields.ts";
import { logFailure } from "./hook-log.ts";

/** Options of a hook's command line. */
export interface HookOptions {
  readonly from: HookSource;
  readonly root: string | undefined;
  readonly durability: "disk" | "os";
  readonly sign: SpooledHook["sign"];
  readonly withinMs: number;
}

/** The dialect whose store has the spool (dialects/hooks/dialect.ts). */
const SPOOLED_DIALECT = "claude";

/** Why stdin could not be recorded. Contains nothing of the payload. */
export class HookFault extends Error {
  override readonly name = "HookFault";
}

interface HookInput {
  readonly hook: JsonObject;
  readonly text: string;
}

/** Records stdin. `options` throws if the command line is wrong. */
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
    clearTimeout(timer); // Recorded and durable from here on.
    if (waiting === 1) await rememberAfterHook(root, withinMs);
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

/** The first hook after a drain does it: it costs a few milliseconds. */
async function rememberAfterHook(root: string, withinMs: number): Promise<void> {
  const timer = setTimeout(() => process.exit(0), withinMs);
  const { rememberStore } = await import("../../sessions/list/remembered-stores.ts");
  await rememberStore(SPOOLED_DIALECT, root);
  clearTimeout(timer);
}

/** Reports the failure on stderr and in the hook log. */
function tell(failure: unknown): void {
  const path = logFailure(failure, Date.now());
  const code = failure instanceof VerbatimError ? ` (${failure.code})` : "";
  const why = path === null ? `no log can be written, either: ${failure}` : `why: ${path}`;
  process.stderr.write(`verbatim: a hook was not recorded${code}; ${why}\n`);
}

/** Exits 0 even if work is still pending. */
function end(failure: unknown): void {
  tell(failure);
  process.exit(0);
}

async function readHook(input: Readable, from: HookSource): Promise<HookInput> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= LOG_LIMITS.lineBytesMax) chunks.push(chunk); // Read and discard the rest.
  }
  if (length > LOG_LIMITS.lineBytesMax) {
    throw new HookFault(`stdin held ${length} bytes, over ${LOG_LIMITS.lineBytesMax}`);
  }
  const bytes = Buffer.concat(chunks);
  const { value: hook, fault } = decodeLine(bytes, 0, bytes.length);
  if (fault !== null) throw new HookFault(`stdin is ${fault}`);
  if (!isObject(hook)) throw new HookFault("stdin is not a JSON object");
  // Refuse an unusable session id now, not when the hook is drained.
  if (sessionOfHook(from, hook) === null) throw new HookFault("stdin has no session_id");
  return { hook, text: bytes.toString("utf8") };
}

/** Writes the hook's file; returns how many hooks are waiting, including this one. */
function spool({ hook, text }: HookInput, asked: HookOptions): { root: string; waiting: number } {
  const { from, sign, durability } = asked;
  const root = resolve(
    asked.root || process.env.CLAUDE_PROJECT_DIR || (getString(hook, "cwd") ?? "."),
  );
  const spooled: SpooledHook = {
    id: randomUUID(),
    at: new Date().toISOString(),
    from,
    sign,
    durability,
    isExact: inexactNumber(text) === null,
    hook: text,
  };
  const line = spoolLine(spooled, sign === false ? null : macOf(spoolText(spooled)));
  const directory = spoolDirectory(root, durability === "disk");
  const names = readdirSync(directory);
  const name = spoolName(nextOrder(names, Date.now()), spooled.id);
  writeNew(join(directory, name), line, durability === "disk");
  if (durability === "disk") syncDirectory(directory);
  return { root, waiting: names.length + 1 };
}

/** The spool directory, created if missing. Refuses links in the path: they may lead anywhere. */
function spoolDirectory(root: string, isDurable: boolean): string {
  let directory = root;
  for (const name of SPOOL_PATH) {
    const above = directory;
    directory = join(directory, name);
    try {
      mkdirSync(directory, { mode: 0o700 });
      // Like sessions/store/session-ids.ts: keep the contents of a new `.verbatim` out of Git.
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

/** Removes a partly written file, which would otherwise look like one still being written. */
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
