/** Layouts: where each dialect's logs lie below a store's root, for finding them by name alone. */

import type { Layout } from "../catalog/find.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { entire } from "../dialects/entire/dialect.ts";
import { LOG_NAME as ENTIRE_LOG_NAME, SESSIONS_PATH } from "../dialects/entire/session-id.ts";
import { homeagent } from "../dialects/homeagent/dialect.ts";
import { LOG_NAME, rye, THREADS_PATH } from "../dialects/rye/dialect.ts";

export const LAYOUTS: Readonly<Record<DialectName, Layout>> = {
  rye: { under: THREADS_PATH, logName: LOG_NAME, idAt: rye.idAt },
  homeagent: {
    under: ["agents"],
    levels: [null, "sessions"],
    isLog: (name) => name.endsWith(".jsonl"),
    idAt: homeagent.idAt,
  },
  entire: { under: SESSIONS_PATH, logName: ENTIRE_LOG_NAME, depthMax: 1, idAt: entire.idAt },
};
