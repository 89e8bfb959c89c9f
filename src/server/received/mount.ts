/** The mount of received sessions: their copies, and the rule by which they are deleted. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { logSegments } from "../../core/base/ids.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { isShareOf } from "../../evidence/share/share.ts";
import { SHARES_FOLDER } from "../../evidence/share/share-files.ts";
import type { ServerContext } from "../context.ts";
import { answerJson, newHeaders, refuseWriting } from "../http/answer.ts";
import type { MountRequest, OpenMount } from "../router/mount.ts";
import { RETENTION_PATH } from "../router/paths.ts";
import { seenBy } from "../sessions/roots.ts";
import type { DeletedLog } from "./received-files.ts";
import { ReceivedSessions } from "./received-sessions.ts";
import { Retention } from "./retention.ts";

export async function receivedMount(context: ServerContext): Promise<OpenMount> {
  const { store, options, settings, time, onFault } = context;
  const { dataDirectory, keepReceivedMs: keepMs = null, onNote = () => {} } = options;
  const onDeleted = (logs: readonly DeletedLog[]) => removeTraces(context, logs);
  const copying = { host: nodeHost, store, dataDirectory, onDeleted, onFault };
  const received = await ReceivedSessions.open(copying);
  const everyMs = settings.retentionMs;
  const retention = new Retention({ store, keepMs, everyMs, time, onNote, onFault });
  return {
    handle: (asked) => answerRetention(retention, asked),
    begin: () => retention.begin(),
    async close() {
      await retention.close();
      await received.close();
    },
    parts: { received },
  };
}

async function answerRetention(retention: Retention, asked: MountRequest): Promise<boolean> {
  const { request, response, path, pass, track } = asked;
  if (path !== RETENTION_PATH) return false;
  track.route = "sessions";
  refuseWriting(request);
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  answerJson(response, 200, await retention.report(seenBy(pass)), headers);
  return true;
}

/** Of deleted sessions: what the user's caches and the copies of shares have of them. */
async function removeTraces(
  { options, time }: ServerContext,
  logs: readonly DeletedLog[],
): Promise<void> {
  const sessions = logs.flatMap((log) => {
    const id = dialectNamed(log.dialect).naming.idAt(logSegments(log.logId));
    return id === null ? [] : [{ ...log, id, path: join(log.root, log.logId) }];
  });
  const { cleanCaches } = await import("../../evidence/erase/clean-caches.ts");
  await cleanCaches(sessions);
  const { dataDirectory, store } = options;
  if (store === undefined && !existsSync(join(dataDirectory, SHARES_FOLDER))) return;
  const { sharesOf } = await import("../shares/route.ts");
  const shares = await sharesOf(options, time.nowMs);
  try {
    for (const share of await shares.list()) {
      const isMeant = sessions.some((session) => isShareOf(share, session));
      if (isMeant && share.revokedAt === null) await shares.revoke(share.id);
    }
    await shares.drop(""); // Any change also deletes the copies of shares that ended by themselves.
  } finally {
    await shares.close();
  }
}
