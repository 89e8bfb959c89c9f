/**
 * OpenAPI: the Durable Streams protocol in outline. The protocol's own document says all of it; this
 * is enough to find a route and to generate a client.
 */

import type { Schema } from "../../client/schema.ts";
import { STATUS } from "../http/status.ts";
import { BODY_ERRORS, FULL_ERROR, operation, parameter, text } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { STREAM_ROOT } from "../router/paths.ts";

const STREAM = parameter("path", "The stream's path; it may contain slashes", text, "path");

/** Of any request about a stream. */
const ASKED = [STATUS.BAD_STREAM_PATH, STATUS.TOKEN_REQUIRED, STATUS.STREAM_NOT_FOUND];
/** Of one whose stream was deleted and is held by its forks. */
const GONE = STATUS.STREAM_GONE;
const header = (name: string, description: string, schema = text) =>
  parameter(name, description, schema, "header");
const whole: Schema = { type: "integer", minimum: 0 };

const CLOSED = header("Stream-Closed", "`true` closes the stream: it takes no more appends", {
  enum: ["true"],
});

const CREATE_HEADERS = [
  CLOSED,
  header("Stream-TTL", "Seconds until the stream expires; each use starts them again", whole),
  header("Stream-Expires-At", "When the stream expires (RFC 3339); not with Stream-TTL", text),
  header("Stream-Forked-From", `Path of the stream to fork: ${STREAM_ROOT}/…`),
  header("Stream-Fork-Offset", "Where the fork begins; default: the end of its source"),
  header("Stream-Fork-Sub-Offset", "How many messages (or bytes) after that offset", whole),
];

const APPEND_HEADERS = [
  CLOSED,
  header("Stream-Seq", "Must be greater than that of the last append, as text"),
  header("Producer-Id", "Makes a retry safe, with the next two: a repeated append is stored once"),
  header(
    "Producer-Epoch",
    "Begins at 0; a higher one refuses the producer's earlier epochs",
    whole,
  ),
  header("Producer-Seq", "Number of the append in its epoch, from 0", whole),
];

/** `Content-Type` is its type: OpenAPI has no parameter of that name. */
function body(description: string): Schema {
  const messages = { description: "A message, or an array of messages" };
  return { description, content: { "application/json": { schema: messages }, "*/*": {} } };
}

const STREAM_OPERATIONS: Schema = {
  put: operation({
    id: "createStream",
    summary: "Create a stream",
    parameters: [STREAM, ...CREATE_HEADERS],
    body: body("The first messages, if any. Its Content-Type becomes that of the stream"),
    ok: { 200: "It exists already, with the same settings", 201: "Created" },
    refused: [...ASKED, ...BODY_ERRORS, STATUS.STREAM_CONFLICT, FULL_ERROR],
  }),
  post: operation({
    id: "appendToStream",
    summary: "Append; answered when it is on the disk",
    parameters: [STREAM, ...APPEND_HEADERS],
    body: body("Messages, with the stream's Content-Type; may be empty only with Stream-Closed"),
    ok: { 200: "Appended, by a producer that numbers its appends", 204: "Appended" },
    refused: [
      ...ASKED,
      ...BODY_ERRORS,
      STATUS.STREAM_CONFLICT,
      GONE,
      STATUS.STREAM_BUSY,
      FULL_ERROR,
    ],
  }),
  get: operation({
    id: "readStream",
    summary: "Read from an offset, or wait for new data",
    parameters: [
      STREAM,
      parameter("offset", "Where to begin: -1 (start), now (end), or an offset of an answer", text),
      parameter("live", "Wait for new data at the end: once, or as Server-Sent Events", {
        enum: ["long-poll", "sse"],
      }),
      parameter("cursor", "`Stream-Cursor` of the last live answer", text),
      header("If-None-Match", "`ETag` of an earlier answer"),
    ],
    ok: { 200: "A chunk, or events", 204: "No new data in time", 304: "Not modified" },
    refused: [...ASKED, GONE, STATUS.TOO_MANY_READERS],
  }),
  head: operation({
    id: "headOfStream",
    summary: "Where a stream ends, its type and its lifetime",
    parameters: [STREAM],
    ok: { 200: "In the headers" },
    refused: [...ASKED, GONE],
  }),
  delete: operation({
    id: "deleteStream",
    summary: "Delete a stream",
    parameters: [STREAM],
    ok: { 204: "Deleted" },
    refused: [...ASKED, GONE, FULL_ERROR],
  }),
};

export const STREAMS: MountDescription = {
  paths: { [`${STREAM_ROOT}/{path}`]: STREAM_OPERATIONS },
};
