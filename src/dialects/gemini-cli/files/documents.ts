/** Documents: sessions of older versions, one JSON document that is rewritten for each message. */

import { join } from "node:path";
import { get, isObject, without } from "../../fields.ts";
import type { Convert } from "../../files/converted-host.ts";
import { DOCUMENT_BYTES_MAX, jsonBelow, linesOf } from "../../files/json-document.ts";
import { isThere, logsOnce } from "../../files/two-files.ts";
import { isDocument, layout, logPath } from "../session-id.ts";

/** A later version that continues a document copies it to a `.jsonl` file, and leaves it there. */
const ENDINGS = { preferred: ".jsonl", other: ".json" };

export const logsIn = logsOnce(layout, ENDINGS);

/** The document that a later version continued as this session; null if there is none. */
export function olderFile(root: string, id: string): string | null {
  const path = logPath(`${id}${ENDINGS.other}`);
  return isDocument(path) && isThere(join(root, ...path)) ? join(root, ...path) : null;
}

/**
 * The first line is the document without its messages, then each message is one. A document without
 * messages is one line; a file that is not JSON is left as it is, and its lines are bad.
 */
export const convert: Convert = (root, path) => {
  if (!isDocument(path)) return null;
  const document = jsonBelow(root, path, DOCUMENT_BYTES_MAX);
  if (!isObject(document)) return null;
  const messages = get(document, "messages");
  const lines = Array.isArray(messages)
    ? [without(document, ["messages"]), ...messages]
    : [document];
  return { bytes: linesOf(lines), source: join(root, ...path) };
};
