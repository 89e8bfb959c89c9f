/**
 * Thread meta: reads a thread's `thread.json` for code that grants permissions based on it, or counts
 * threads in `ThreadTelemetry`, and replaces it by a caller's: signed if the thread is, since an unsigned file next to a signed log would count as
 * tampering.
 *
 * VM1  There is no default and no second source: capabilities and limits come from a file that
 * verifies, or not at all. A file rebuilt from the log is refused.
 *
 * VM2  The file must be as new as the log says: a checkpoint names its revision, so that an older
 * file cannot be put back. So the log is verified too.
 *
 * VM3  The file must belong to this log: it names one of its checkpoints. A thread of the same name
 * in another place, or an earlier one here, is another thread signed by the same key.
 */

import { badOption } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { provideDialect } from "../../dialects/all.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import { RyeDerivedFiles } from "../../dialects/rye/files/derived-files.ts";
import { MetaOnDisk } from "../../dialects/rye/files/meta-on-disk.ts";
import {
  readStoredMeta,
  threadPath,
  writeThreadMeta as writeUnsignedMeta,
} from "../../dialects/rye/files/thread-files.ts";
import { findThreadMetas } from "../../dialects/rye/files/threads.ts";
import type { ExcludedThread } from "../../dialects/rye/telemetry.ts";
import { META_NAME } from "../../dialects/rye/thread-id.ts";
import { isThreadMeta, type StoredThreadMeta } from "../../dialects/rye/thread-meta.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { Store } from "../../sessions/store/store.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import { threadKeys } from "../../trust/trusted-keys/trust.ts";

/** A thread.json is rarely written; one that changes during every read is suspicious. */
const READS_MAX = 3;

/** Throws NOT_VERIFIED. */
export async function readVerifiedMeta(
  host: Host,
  projectPath: string,
  threadId: string,
  judgedBy?: UserJudging,
): Promise<StoredThreadMeta> {
  const path = `${threadPath(projectPath, threadId)}/${META_NAME}`;
  const judging = judgedBy ?? (await UserJudging.load(host, { onWarning: () => {} }));
  const { found, report } = await readBoth(host, judging, projectPath, threadId);
  if (!found) throw notVerified(path, "unsigned", "there is none");
  const keys = threadKeys(judging.trust, threadId);
  const { meta, doubt } = found.judge({ threadId, keys, report });
  if (!meta) throw notVerified(path, doubt.verdict, doubt.why);
  return meta;
}

/** Reads the file and verifies the log consistently, even while a writer continues. */
async function readBoth(host: Host, judging: UserJudging, root: string, threadId: string) {
  const logId = rye.naming.logPath(threadId).join("/");
  const log = { dialect: provideDialect(rye), root, logId, id: threadId } as const;
  for (let tries = READS_MAX; ; tries--) {
    const found = await MetaOnDisk.read(host, log);
    const onCheckpoint = found?.onCheckpoint ?? (() => {});
    // Verifies the log alone: the file is checked here, more strictly than a verdict does.
    const options = { ...(await judging.optionsFor(log)), filesProof: null, onCheckpoint };
    const report = await verifyLog(host, log, options);
    const isSame = found?.text === (await MetaOnDisk.read(host, log))?.text;
    if (isSame || tries === 1) return { found, report };
  }
}

function notVerified(path: string, verdict: string, why: string): VerbatimError {
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is not verified (${verdict}): ${why}; grant nothing because of it`,
    { path, verdict },
  );
}

export async function writeThreadMeta(
  host: Host,
  projectPath: string,
  threadId: string,
  meta: StoredThreadMeta,
): Promise<void> {
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const thread = { id: threadId, meta: await readStoredMeta(host, projectPath, threadId) };
  const isSigned = await isSignedThread(host, judging, projectPath, thread);
  const write = isSigned ? writeSignedMeta : writeUnsignedMeta;
  await write(host, projectPath, threadId, meta);
}

/**
 * Replaces the `thread.json` of a signed thread with the log's lock held: signed, with a higher
 * revision. Throws NOT_VERIFIED, CHECKPOINT_MISMATCH, UNSIGNABLE_JSON, LOG_LOCKED, BAD_SETTING.
 */
async function writeSignedMeta(
  host: Host,
  projectPath: string,
  threadId: string,
  meta: StoredThreadMeta,
): Promise<void> {
  if (!isThreadMeta(meta) || meta.thread_id !== threadId) {
    throw badOption("meta", "must be a thread.json of this thread, with thread_id and status");
  }
  const store = new Store(host, { dialect: provideDialect(rye), root: projectPath, sign: true });
  const session = store.session(threadId);
  try {
    await session.addCheckpoints(async () => []); // Throws if the log does not verify.
    await session.changeDerived(async (derived, sync) => {
      if (derived instanceof RyeDerivedFiles) await derived.replaceMeta(meta, sync);
    });
  } finally {
    await session.release(); // Not closed: the caller decides whether the thread continues.
    await store.close();
  }
}

/** Looked at, at either end of a log. */
const LOOK_BYTES = 64 * 1024;
/** Part of every checkpoint of this format, and of no JSON string: quotes are escaped there. */
const MARK = Buffer.from('"sig2":"');
const META_FIELDS = ["_signature2", "rev", "head"];

/**
 * Whether a thread is signed, without verification: looks for the traces of a signer, a checkpoint near
 * either end of the log, fields in thread.json, a pinned head. Removing all three strips the thread of
 * its signatures, which only a pin can detect.
 */
export async function isSignedThread(
  host: Host,
  judging: UserJudging,
  root: string,
  thread: { readonly id: string; readonly meta: unknown },
): Promise<boolean> {
  const { id, meta } = thread;
  if (typeof meta === "object" && meta !== null) {
    if (META_FIELDS.some((name) => Object.hasOwn(meta, name))) return true;
  }
  const logId = rye.naming.logPath(id).join("/");
  const whose = await judging.whose({ dialect: provideDialect(rye), root, logId, id });
  return judging.remembered(whose).here !== null || (await bearsCheckpoint(host, root, logId));
}

async function bearsCheckpoint(host: Host, root: string, logId: string): Promise<boolean> {
  try {
    const place = await openLogPath(host, logId, { create: false, root });
    try {
      const log = openToRead(place);
      try {
        const size = log.size();
        const first = await readStretch(log, 0, Math.min(size, LOOK_BYTES));
        if (Buffer.from(first).includes(MARK)) return true;
        const last = await readStretch(log, Math.max(0, size - LOOK_BYTES), size);
        return Buffer.from(last).includes(MARK);
      } finally {
        log.close();
      }
    } finally {
      place.directory.close();
    }
  } catch {
    return false; // The log is not readable, so nothing in it is signed.
  }
}

export interface CountedThread {
  /** Parsed thread.json; undefined if there is no usable one. */
  readonly meta: unknown;
  /** Why it is excluded; null if it counts. */
  readonly excluded: ExcludedThread | null;
}

/** Every thread of a project, in no order. Throws if the user's own trust file is invalid. */
export async function* countedThreads(
  host: Host,
  root: string,
  onProgress: (found: number) => void = () => {},
): AsyncGenerator<CountedThread> {
  let judging: UserJudging | null = null;
  for await (const { below: id, meta } of findThreadMetas(root, onProgress)) {
    judging ??= await UserJudging.load(host, { onWarning: () => {} });
    if (meta === undefined || !(await isSignedThread(host, judging, root, { id, meta }))) {
      yield { meta, excluded: null };
      continue;
    }
    try {
      yield { meta: await readVerifiedMeta(host, root, id, judging), excluded: null };
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
      const { verdict } = cause.details as VerbatimError<"NOT_VERIFIED">["details"];
      yield { meta: undefined, excluded: { thread_id: id, verdict, why: cause.message } };
    }
  }
}
