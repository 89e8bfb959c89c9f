/** URLs with several hosts, as libpq reads them. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { hostName, hostUrls } from "./database.ts";
import { pinnedNameOf } from "./store-options.ts";

test("a URL with one host is used as it is", () => {
  for (const url of ["postgres://u:p@h:5433/d?sslmode=require", "postgresql://h/d"]) {
    assert.deepEqual(hostUrls(url), [url]);
  }
  const socket = "postgres://postgres@/postgres?host=%2Ftmp%2Fpg";
  assert.deepEqual(hostUrls(socket), [socket]);
});

test("each of several hosts has a URL, with its port, and without what is ours to judge", () => {
  const url = "postgres://u:p@one,two:5433,[::1]/d?target_session_attrs=read-write&sslmode=require";
  const rest = "/d?sslmode=require";
  assert.deepEqual(hostUrls(url), [
    `postgres://u:p@one${rest}`,
    `postgres://u:p@two:5433${rest}`,
    `postgres://u:p@[::1]${rest}`,
  ]);
  const named = "postgres://u@/d?host=/a,/b&port=5432,5433&target_session_attrs=primary";
  assert.deepEqual(hostUrls(named), [
    "postgres://u@/d?host=%2Fa&port=5432",
    "postgres://u@/d?host=%2Fb&port=5433",
  ]);
  assert.deepEqual(hostUrls(named).map(hostName), ["/a", "/b"]);
});

test("a URL that is none, and one that asks for a standby, are refused before anything is tried", async () => {
  for (const [url, reason] of [
    ["postgres://h:port/d", /a host or a port that is not one/],
    ["postgres://a:1,b:99999/d", /a host or a port that is not one/],
    ["postgres://h/d?target_session_attrs=standby", /must be read-write or primary/],
  ] as const) {
    const { message } = await refusal(Promise.resolve(url).then(hostUrls), "BAD_SETTING");
    assert.match(message, reason);
  }
});

test("a store keeps its name in pinned heads when a host is added", () => {
  const [one, two] = ["postgres://u@a:5433/d", "postgres://u:p@a:5433,b/d?x=y"];
  assert.equal(pinnedNameOf(one, "s"), "//a:5433/d/s");
  assert.equal(pinnedNameOf(two, "s"), "//a:5433/d/s");
});
