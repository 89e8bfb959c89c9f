/**
 * Session ids: `<directory>/<session>`. The first is the working directory, percent-encoded.
 *
 *     sessions/%2Fhome%2Fme%2Fapp/<session>/chat_history.jsonl
 *     sessions/%2Fhome%2Fme%2Fapp/<session>/updates.jsonl         <directory>/<session>/updates
 */

import { directoryIds, eitherPathIds, pathIds } from "../path-ids.ts";

export const CHAT_NAME = "chat_history.jsonl";
export const UPDATES_NAME = "updates.jsonl";

const where = { under: ["sessions"], levels: [null, null] };
const chats = directoryIds({ ...where, logName: CHAT_NAME });
const updates = pathIds({ ...where, ending: ".jsonl", isName: (name) => name === "updates" });

export const { logPath, idAt, layout } = eitherPathIds([chats, updates], (id) =>
  id.split("/").length > 2 ? updates : chats,
);

export function isUpdates(path: readonly string[]): boolean {
  return updates.idAt(path) !== null;
}

export function nameOf(id: string): string {
  return id.split("/")[1] ?? id;
}
