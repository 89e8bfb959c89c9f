import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { parseEvents } from "../../../test/server/sse.ts";
import { formatOffset } from "../../streams/files/offset-token.ts";
import type { Chunk, StreamHead } from "../../streams/files/stream-store.ts";
import { controlEvent, eventFrame } from "./event-feed.ts";

function head(contentType: string, isJson = false): StreamHead {
  return {
    path: "/s",
    streamId: "1",
    contentType,
    isJson,
    lifetime: { kind: "forever" },
    start: formatOffset(0, 0),
    end: formatOffset(0, 0),
    isClosed: false,
    createdAtMs: 0,
    fork: null,
  };
}

function chunk(bytes: Uint8Array, of: StreamHead, rest: Partial<Chunk> = {}): Chunk {
  const next = formatOffset(0, bytes.length);
  return { head: of, bytes, from: formatOffset(0, 0), next, isAtEnd: true, ...rest };
}

/** The content of the only data event, as a client gets it, after a control event has followed. */
function received(of: Chunk): string {
  const frame = eventFrame(of);
  const events = parseEvents(Buffer.concat([frame.data, Buffer.from(controlEvent(frame, 7))]));
  assert.deepEqual(
    events.map(({ type }) => type),
    ["data", "control"],
  );
  return events[0]?.data ?? "";
}

/** Texts full of characters that could break out of an event. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom("\r", "\n", "\r\n", " ", ":", "data: ", "event: control"),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(""))
  .filter((text) => text !== "" && text.isWellFormed());

test("any text arrives in one event, with its line ends as LF", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const sent = received(chunk(Buffer.from(text), head("text/plain; charset=utf-8")));
      assert.equal(sent, text.replaceAll(/\r\n|\r/g, "\n"));
    }),
  );
});

test("JSON messages arrive as one array, unchanged", () => {
  const lines = '{"n":1.0,"n":1e400}\n"\\u2028 \u2028"\n[]\n';
  const sent = received(chunk(Buffer.from(lines), head("application/json", true)));
  assert.equal(sent, '[{"n":1.0,"n":1e400},"\\u2028 \u2028",[]]');
});

test("bytes of any other type arrive as base64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const sent = received(chunk(bytes, head("application/x-protobuf")));
      assert.deepEqual(Buffer.from(sent, "base64"), Buffer.from(bytes));
    }),
  );
});

test("a control event has the reader's offset, and marks the end of a closed stream", () => {
  const open = head("text/plain");
  const parsed = (of: Chunk) => {
    const [event] = parseEvents(Buffer.from(controlEvent(eventFrame(of), 7)));
    return JSON.parse(event?.data ?? "");
  };
  const bytes = Buffer.from("x");
  const place = { streamNextOffset: formatOffset(0, 1) };
  assert.deepEqual(parsed(chunk(bytes, open)), { ...place, streamCursor: "7", upToDate: true });
  assert.deepEqual(parsed(chunk(bytes, open, { isAtEnd: false })), { ...place, streamCursor: "7" });
  const closed = { ...open, isClosed: true };
  assert.deepEqual(parsed(chunk(bytes, closed)), { ...place, upToDate: true, streamClosed: true });
  const notYet = parsed(chunk(bytes, closed, { isAtEnd: false }));
  assert.deepEqual(notYet, { ...place, streamCursor: "7" });
});
