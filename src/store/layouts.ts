/**
 * Layouts: where each dialect's logs lie below a store's root, for finding them by name alone.
 * They come from the dialects' ids, without the rest of the dialects: to find is not to read.
 */

import type { Layout } from "../catalog/find.ts";
import * as claude from "../dialects/claude/session-id.ts";
import type { DialectName } from "../dialects/dialect.ts";
import * as entire from "../dialects/entire/session-id.ts";
import * as homeagent from "../dialects/homeagent/session-id.ts";
import * as rye from "../dialects/rye/thread-id.ts";
import * as sdk from "../dialects/sdk/session-id.ts";
import * as verbatim from "../dialects/verbatim/session-id.ts";
import { streamLogs } from "../streams/stream-logs.ts";

export const LAYOUTS: Readonly<Record<DialectName, Layout>> = {
  rye: { under: rye.THREADS_PATH, logName: rye.LOG_NAME, idAt: rye.idAt },
  homeagent: {
    under: ["agents"],
    levels: [null, "sessions"],
    isLog: (name) => name.endsWith(".jsonl"),
    idAt: homeagent.idAt,
  },
  entire: {
    under: entire.SESSIONS_PATH,
    logName: entire.LOG_NAME,
    depthMax: 1,
    idAt: entire.idAt,
  },
  claude: { under: claude.SESSIONS_PATH, logName: claude.LOG_NAME, idAt: claude.idAt },
  sdk: {
    under: sdk.SESSIONS_PATH,
    levels: [null],
    isLog: (name) => name.endsWith(sdk.ENDING),
    idAt: sdk.idAt,
  },
  verbatim: {
    under: verbatim.SESSIONS_PATH,
    levels: [],
    isLog: (name) => name.endsWith(verbatim.ENDING),
    idAt: verbatim.idAt,
  },
  streams: {
    under: ["logs"],
    mark: "meta.jsonl",
    levels: [],
    isLog: () => false,
    idAt: () => null,
    logsIn: streamLogs,
  },
};
