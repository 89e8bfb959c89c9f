import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { formatRoute, type PageRoute, parseRoute } from "./route.ts";

const text = fc.string({ unit: "grapheme" });

const PLAIN = { noNullPrototype: true };

const route: fc.Arbitrary<PageRoute> = fc.oneof(
  fc.record(
    {
      page: fc.constant("sessions" as const),
      filter: fc.record(
        {
          q: text,
          agent: text,
          project: text,
          model: text,
          verdict: text,
          machine: text,
          user: text,
          tag: text,
          starred: text,
          status: text,
          live: text,
          since: text,
          sort: text,
          kind: text,
          subagents: text,
        },
        PLAIN,
      ),
    },
    PLAIN,
  ),
  fc.record(
    {
      page: fc.constant("session" as const),
      id: fc.string({ unit: "grapheme", minLength: 1 }),
      at: fc.option(fc.nat(999_999_999_999)),
      q: text,
      f: text,
    },
    PLAIN,
  ),
  fc.constant({ page: "usage" } as const),
  fc.constant({ page: "copy" } as const),
  fc.constant({ page: "share", token: "vbs_-aZ09" } as const),
);

test("a route is read back from its address (VR1)", () => {
  fc.assert(fc.property(route, (each) => assert.deepEqual(parseRoute(formatRoute(each)), each)));
});

test("any address is some route", () => {
  fc.assert(fc.property(fc.string(), (hash) => typeof parseRoute(hash).page === "string"));
  assert.equal(parseRoute("").page, "sessions");
  assert.equal(parseRoute("#/s/%").page, "unknown");
  assert.equal(parseRoute("#/nowhere").page, "unknown");
  const none = { page: "session", id: "a", at: null, q: "", f: "" };
  assert.deepEqual(parseRoute("#/s/a?at=-1"), none);
});
