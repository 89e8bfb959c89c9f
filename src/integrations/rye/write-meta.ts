/**
 * Write meta: replaces a thread's `thread.json` by a caller's, signed if the thread is signed: an
 * unsigned file next to a signed log would count as tampering.
 */

import { badOption } from "../../core/base/choice.ts";
import type { Host } from "../../core/base/host.ts";
import { provideDialect } from "../../dialects/all.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import { RyeDerivedFiles } from "../../dialects/rye/files/derived-files.ts";
import {
  readStoredMeta,
  writeThreadMeta as writeUnsignedMeta,
} from "../../dialects/rye/files/thread-files.ts";
import { isThreadMeta, type StoredThreadMeta } from "../../dialects/rye/thread-meta.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { Store } from "../../sessions/store/store.ts";
import { isSignedThread } from "./signed-thread.ts";

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
