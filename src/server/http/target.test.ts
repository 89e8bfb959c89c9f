import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { rawPath, readQuery, streamPathOf } from "./target.ts";

const text = fc.string({ unit: "binary" }).filter((each) => each.isWellFormed());

test("a stream's path is the URL path after the root, decoded once", () => {
  assert.equal(streamPathOf("/v1/stream/chat/session-1"), "/chat/session-1");
  assert.equal(streamPathOf("/v1/stream/a%20b"), "/a b");
  assert.equal(streamPathOf("/v1/stream/a%2520b"), "/a%20b");
  assert.equal(streamPathOf("/v1/stream/"), "/");
  for (const other of ["/", "/v1", "/v1/stream", "/v1/streams/a", "/v2/stream/a", "*"]) {
    assert.equal(streamPathOf(other), null, other);
  }
});

test("any path survives a round trip through a URL", () => {
  fc.assert(
    fc.property(text, (path) => {
      const url = `/v1/stream/${encodeURIComponent(path)}?offset=-1`;
      assert.equal(streamPathOf(rawPath(url)), `/${path}`);
    }),
  );
});

test("a path that is not UTF-8 is refused", () => {
  for (const path of ["/v1/stream/%", "/v1/stream/%zz", "/v1/stream/%ff", "/v1/stream/%c3"]) {
    thrownRefusal(() => streamPathOf(path), "BAD_REQUEST");
  }
});

test("a query is parsed as the URL standard says", () => {
  const pair = fc.tuple(fc.constantFrom("live", "cursor", "other", "offsets"), text);
  fc.assert(
    fc.property(fc.array(pair), text, (pairs, offset) => {
      const parameters = new URLSearchParams([...pairs, ["offset", offset]]);
      const { live, cursor, ...rest } = readQuery(`/v1/stream/a?${parameters}`);
      assert.equal(rest.offset, offset);
      assert.equal(live, parameters.get("live") ?? undefined);
      assert.equal(cursor, parameters.get("cursor") ?? undefined);
    }),
  );
});

test("more than one offset is refused; unknown parameters are ignored", () => {
  thrownRefusal(() => readQuery("/v1/stream/a?offset=-1&offset=-1"), "BAD_REQUEST");
  assert.deepEqual(readQuery("/a?x=1&y&=&offset"), {
    offset: "",
    live: undefined,
    cursor: undefined,
  });
});
