/**
 * Session ids: `<directory>/<session>`. The first is the working directory, percent-encoded.
 *
 *     sessions/%2Fhome%2Fme%2Fapp/<session>/chat_history.jsonl
 */

import { directoryIds, lastSegment } from "../path-ids.ts";

export const { logPath, idAt, layout } = directoryIds({
  ...{ under: ["sessions"], levels: [null, null], logName: "chat_history.jsonl" },
});

export const nameOf = lastSegment;
