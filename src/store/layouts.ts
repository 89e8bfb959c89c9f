/** Layouts: where each dialect's logs lie below a store's root, for finding them by name alone. */

import type { Layout } from "../catalog/find.ts";
import type { DialectName } from "../dialects/dialect.ts";
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
};
