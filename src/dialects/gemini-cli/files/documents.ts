/** Documents: sessions of older versions, one JSON document that is rewritten for each message. */

import { join } from "node:path";
import { get, isObject, without } from "../../fields.ts";
import type { Convert } from "../../files/converted-host.ts";
import { DOCUMENT_BYTES_MAX, jsonBelow, linesOf } from "../../files/json-document.ts";
import { isDocument } from "../session-id.ts";

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
