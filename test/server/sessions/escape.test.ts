/** No URL reaches a file outside the roots, and nothing stored is returned as HTML. */

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../support/seed.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { RawConnection } from "../raw-http.ts";
import { refused } from "../test-server.ts";
import { newUser, ryeLog, type SessionPage, serveSessions } from "./served.ts";

const SECRET = "nobody outside may see this";
const line = (text: string) =>
  `${JSON.stringify({ ts: "2026-01-01T00:00:00Z", type: "user_message", thread_id: "a-1", text })}\n`;

const PARTS = [
  "",
  "/entries",
  "/events",
  "/bytes",
  "/checkpoints",
  "/markdown",
  "/verify",
  "/usage",
];

/**
 * Two stores next to each other, one of them served; the other, and a file next to them, have a
 * secret.
 */
async function sideBySide() {
  newUser();
  const parent = tempDirectory();
  const [served, other] = [join(parent, "served"), join(parent, "other")];
  for (const [root, text] of [
    [served, "hello"],
    [other, SECRET],
  ] as const) {
    mkdirSync(dirname(ryeLog(root, "a-1")), { recursive: true });
    writeFileSync(ryeLog(root, "a-1"), line(text));
  }
  writeFileSync(join(parent, "secret.jsonl"), line(SECRET));
  const api = await serveSessions([served]);
  const [session] = (await api.json<SessionPage>("")).sessions;
  const [key = ""] = (session?.id ?? "").split(".");
  const named = (id: string) => `${key}.${Buffer.from(id).toString("base64url")}`;
  return { ...api, served, other, parent, key, named, id: session?.id ?? "" };
}

/** The answer to a raw request target, as text. */
async function rawAnswer(url: string, target: string): Promise<string> {
  const connection = await RawConnection.open(url);
  connection.send("GET", target, { Connection: "close" });
  return connection.closed();
}

test("ids and paths of a traversal corpus match nothing", async () => {
  const { server, named, key, parent, other } = await sideBySide();
  const names = [
    "..",
    ".",
    "",
    "/",
    "//",
    "../a-1",
    "../../other/.ai/threads/a-1",
    "a-1/..",
    "a-1/../a-1",
    "./a-1",
    "a-1/",
    "/a-1",
    "a-1\0",
    "\0",
    "a-1\0.jsonl",
    "..\\other",
    "a-1/transcript.jsonl",
    "%2e%2e",
    "..%2fother",
    "%252e%252e/",
    "．．/other",
    "..;/other",
    "\u2024\u2024/",
    "a-1\n",
    `${other}/.ai/threads/a-1`,
    join(parent, "secret.jsonl"),
    "file:///etc/passwd",
    "/etc/passwd",
    "../../../../../../etc/passwd",
    "con",
    "x".repeat(5000),
    "a".repeat(201),
  ];
  const encoded = [
    "..",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f..%2fother",
    "%00",
    "%c0%ae%c0%ae",
    "%ff",
    "..%5c..",
    "%2e%2e/%2e%2e/secret.jsonl",
    ".",
    "~",
    "*",
    "__proto__",
    "constructor",
    "a-1",
    `${key}.`,
    `${key}.Li4`,
    `${key}.Li4=`,
    `${key}.YS0x/..`,
    `${key}.YS0x%2f..`,
    `${key}.YS0y`,
    `${key}.YS0x=`,
    `${key}.YS0x%00`,
    `${key.toUpperCase()}.YS0x`,
    `0000000000000000.YS0x`,
    // Another spelling of the same bytes would be a second URL of one session.
    `${key}.YS0xA`,
    `${key}.YS0`,
  ];
  for (const id of [...names.map(named), ...encoded]) {
    for (const part of PARTS) {
      const answer = await rawAnswer(server.url, `/v1/sessions/${id}${part}`);
      assert.doesNotMatch(answer, new RegExp(SECRET));
      assert.doesNotMatch(answer, /root:/);
      const [, status] = answer.split(" ");
      const isList = id === "" || id === named("");
      assert.ok(status === "404" || status === "400" || isList, `${id}${part}: ${status}`);
    }
  }
});

test("any bytes as an id are answered with 404 or 400, and never with a secret", async () => {
  const { server, key } = await sideBySide();
  const dotted = fc.string({ unit: fc.constantFrom("..", "/", "a-1", "\0", "other", "%2e", "\\") });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ unit: "binary" }), dotted), async (id) => {
      fc.pre(id !== "a-1");
      const target = `${key}.${Buffer.from(id).toString("base64url")}`;
      const answer = await rawAnswer(server.url, `/v1/sessions/${target}/bytes`);
      assert.match(answer, /^HTTP\/1\.1 40[04] /);
      assert.doesNotMatch(answer, new RegExp(SECRET));
    }),
    { numRuns: runs(150) },
  );
});

test("a link swapped in for a log or a directory above it is not followed", async () => {
  const { url, id, served, other, json } = await sideBySide();
  const log = ryeLog(served, "a-1");
  const swaps = [log, dirname(log), join(served, ".ai/threads"), join(served, ".ai")];
  for (const place of swaps) {
    const aside = `${place}.aside`;
    renameSync(place, aside);
    symlinkSync(place.replace(served, other), place);
    for (const part of PARTS) {
      const response = await fetch(url(`/${id}${part}`));
      const text = await response.text();
      assert.equal(response.status, 404, `${basename(place)} ${part}: ${text}`);
      assert.doesNotMatch(text, new RegExp(SECRET));
    }
    const listed = JSON.stringify(await json<SessionPage>(""));
    assert.doesNotMatch(listed, new RegExp(SECRET));
    rmSync(place);
    renameSync(aside, place);
    assert.equal((await json<SessionPage>("")).sessions.length, 1);
  }
});

test("contents are data: no answer is HTML or can be interpreted as HTML", async () => {
  newUser();
  const root = tempDirectory();
  mkdirSync(dirname(ryeLog(root, "a-1")), { recursive: true });
  writeFileSync(ryeLog(root, "a-1"), line("<script>alert(1)</script>\u2028\r\n\r\nevent: x"));
  const { url, json } = await serveSessions([root]);
  const [session] = (await json<SessionPage>("")).sessions;
  for (const part of ["", ...PARTS.map((each) => `/${session?.id}${each}`)]) {
    const left = new AbortController();
    const response = await fetch(url(part), { signal: left.signal });
    assert.equal(response.status, 200, part);
    assert.doesNotMatch(response.headers.get("content-type") ?? "", /html|xml|svg/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("content-security-policy"), "default-src 'none'; sandbox");
    assert.equal(response.headers.get("cache-control"), "no-store");
    left.abort();
  }
});

test("a missing root is refused at the start, and one that is deleted later is empty", async () => {
  newUser();
  const root = join(tempDirectory(), "project");
  await assert.rejects(serveSessions([root]), { code: "IO_ERROR" });
  mkdirSync(dirname(ryeLog(root, "a-1")), { recursive: true });
  writeFileSync(ryeLog(root, "a-1"), line("x"));
  const { json, url } = await serveSessions([root]);
  const [session] = (await json<SessionPage>("")).sessions;
  rmSync(root, { recursive: true });
  assert.deepEqual((await json<SessionPage>("")).sessions, []);
  assert.deepEqual(await refused(await fetch(url(`/${session?.id}`))), [404, "SESSION_NOT_FOUND"]);
});
