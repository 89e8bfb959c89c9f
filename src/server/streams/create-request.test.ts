import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { contentTypeOf, forkOf, isClosing, lifetimeOf } from "./create-request.ts";

test("Stream-Closed is true in any letter case, and any other value is treated as absent", () => {
  for (const value of ["true", "TRUE", "True", "tRuE"]) {
    assert.equal(isClosing({ "stream-closed": value }), true, value);
  }
  for (const value of ["false", "yes", "1", "", "true, true", "truth"]) {
    assert.equal(isClosing({ "stream-closed": value }), false, value);
  }
  assert.equal(isClosing({}), false);
});

test("a lifetime is whole seconds or an RFC 3339 time, and not both", () => {
  assert.equal(lifetimeOf({}), undefined);
  assert.deepEqual(lifetimeOf({ "stream-ttl": "0" }), { kind: "ttl", seconds: 0 });
  assert.deepEqual(lifetimeOf({ "stream-ttl": "3600" }), { kind: "ttl", seconds: 3600 });
  const text = "2026-11-15T12:00:00+02:00";
  const atMs = Date.UTC(2026, 10, 15, 10);
  assert.deepEqual(lifetimeOf({ "stream-expires-at": text }), { kind: "until", atMs, text });
  for (const ttl of ["", "-1", "+1", "01", "1.0", "1e3", " 1", "abc", "9".repeat(16)]) {
    thrownRefusal(() => lifetimeOf({ "stream-ttl": ttl }), "BAD_REQUEST");
  }
  const noTimes = ["2026-13-45T00:00:00Z", "2027-02-30T00:00:00Z", "2027-01-01T24:00:00Z"];
  for (const until of ["", "tomorrow", "2026-11-15", "1763200000", ...noTimes]) {
    thrownRefusal(() => lifetimeOf({ "stream-expires-at": until }), "BAD_REQUEST");
  }
  const both = { "stream-ttl": "1", "stream-expires-at": text };
  thrownRefusal(() => lifetimeOf(both), "BAD_REQUEST");
});

test("an invalid content type is treated as absent", () => {
  assert.equal(
    contentTypeOf({ "content-type": "application/vnd.x+json" }),
    "application/vnd.x+json",
  );
  for (const type of ["", " ", "json", "/", "a/", "/b"]) {
    assert.equal(contentTypeOf({ "content-type": type }), undefined, type);
  }
});

test("a fork names its source by URL path, and its position by an offset of ours", () => {
  const from = { "stream-forked-from": "/v1/stream/a%20b" };
  const zero = "0000000000000000_0000000000000000";
  const at = { "stream-fork-offset": zero };
  assert.deepEqual(forkOf(from), { source: "/a b", at: undefined, subOffset: undefined });
  const counted = { ...from, ...at, "stream-fork-sub-offset": "3" };
  assert.deepEqual(forkOf(counted), { source: "/a b", at: zero, subOffset: 3 });
  for (const headers of [
    at,
    { "stream-fork-sub-offset": "0" },
    { "stream-forked-from": "a" },
    { "stream-forked-from": "http://elsewhere/v1/stream/a" },
    { ...from, "stream-fork-offset": "12" },
    { ...from, "stream-fork-sub-offset": "1" },
    { ...from, ...at, "stream-fork-sub-offset": "-1" },
  ]) {
    thrownRefusal(() => forkOf(headers), "BAD_REQUEST");
  }
});
