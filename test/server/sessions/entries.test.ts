/**
 * A session's entries by range, live, and as bytes: every line in its place, for every kind of
 * request.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { isTried } from "../../support/seed.ts";
import { SHAPES, turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { header, refused } from "../test-server.ts";
import {
  type EntryPage,
  newUser,
  ryeLog,
  type ServedOptions,
  type SessionPage,
  serveSessions,
} from "./served.ts";

const said = (n: number, text = `n${n}`) =>
  `${JSON.stringify({ ts: "2026-01-01T00:00:00Z", type: "user_message", thread_id: "a-1", text })}\n`;

/** A served rye session of these bytes. */
async function serveLog(bytes: string | Uint8Array, options: ServedOptions = {}) {
  newUser();
  const root = tempDirectory();
  const path = ryeLog(root, "a-1");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const served = await serveSessions([root], options);
  const [session] = (await served.json<SessionPage>("")).sessions;
  const id = session?.id ?? assert.fail("it is not listed");
  const page = (query: string) => served.json<EntryPage>(`/${id}/entries${query}`);
  return { ...served, id, path, page, root };
}

/** Good lines, one bad line of each kind, and a last line without its LF. */
const LOG = Buffer.concat([
  Buffer.from(said(0)),
  Buffer.from("not json\n\n"),
  Buffer.from([0xff, 0x0a]),
  Buffer.from(`${said(1, "é\u2028</script>")}{"no":"event"}\n`),
  Buffer.from(said(2).trimEnd()),
]);

/** The offset of each line, and the end. */
function boundaries(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return [...starts, bytes.length + 1];
}

test("pages of any size, after or before any line, hold exactly the lines there", async () => {
  const places = boundaries(LOG);
  const { page } = await serveLog(LOG);
  const whole = await page("?from=0");
  assert.deepEqual(
    whole.entries.map(({ start }) => start),
    places.slice(0, -1),
  );
  assert.deepEqual(
    whole.entries.map(({ kind, fault }) => [kind, fault]),
    [
      ["message", null],
      ["other", "not JSON"],
      ["other", "blank"],
      ["other", "not UTF-8"],
      ["message", null],
      ["other", whole.entries[5]?.fault],
      ["message", null],
    ],
  );
  for (const [index, offset] of places.entries()) {
    for (let limit = 1; limit <= places.length; limit++) {
      if (!isTried(index + limit, 3)) continue;
      const after = await page(`?from=${offset}&limit=${limit}`);
      assert.deepEqual(after.entries, whole.entries.slice(index, index + limit));
      assert.equal(after.isAtEnd, index + limit >= whole.entries.length);
      const before = await page(`?before=${offset}&limit=${limit}`);
      assert.deepEqual(before.entries, whole.entries.slice(Math.max(0, index - limit), index));
      assert.equal(before.isAtStart, index - limit <= 0);
      const around = await page(`?around=${offset}&limit=${limit}`);
      assert.equal(around.entries.length, Math.min(limit, whole.entries.length));
      const first = whole.entries.findIndex(({ start }) => start === around.from);
      assert.deepEqual(around.entries, whole.entries.slice(first, first + limit));
      if (index < whole.entries.length) {
        assert.ok(around.entries.some(({ start }) => start === offset));
      }
    }
  }
  const last = await page("?limit=2");
  assert.deepEqual(last.entries, whole.entries.slice(-2));
  assert.equal(last.isAtEnd, true);
});

test("an offset inside a line is 416, one after the end 410, and two ranges at once are refused", async () => {
  const places = new Set(boundaries(LOG));
  const { url, id } = await serveLog(LOG);
  for (let offset = 0; offset < LOG.length + 5; offset++) {
    const isNear = [offset - 1, offset, offset + 1].some((each) => places.has(each));
    if (!isNear && !isTried(offset, 10)) continue;
    for (const by of ["from", "before", "around"]) {
      const response = await fetch(url(`/${id}/entries?${by}=${offset}`));
      const wanted = places.has(offset) ? 200 : offset <= LOG.length ? 416 : 410;
      assert.equal(response.status, wanted, `${by}=${offset}`);
      await response.arrayBuffer();
    }
  }
  const both = await fetch(url(`/${id}/entries?from=0&before=0`));
  assert.deepEqual(await refused(both), [400, "BAD_REQUEST"]);
});

test("a page holds no more lines than its bytes allow, and at least one", async () => {
  const line = said(0).length;
  const log = Array.from({ length: 9 }, (_, n) => said(n)).join("");
  for (const [bytesMax, count] of [
    [1, 1],
    [2 * line, 2],
    [3 * line - 1, 2],
    [3 * line, 3],
  ] as const) {
    const { page } = await serveLog(log, { limits: { bytesMax } });
    assert.equal((await page("?from=0")).entries.length, count, `${bytesMax}`);
    assert.equal((await page("")).entries.length, count, `${bytesMax}`);
  }
});

test("torn bytes are counted and not shown, and a line nested too deep for the call stack is shown", async () => {
  const deep = `${'{"a":['.repeat(20_000)}${"]}".repeat(20_000)}`;
  const line = `{"ts":"2026-01-01T00:00:00Z","type":"user_message","thread_id":"a-1","text":"x","d":${deep}}\n`;
  const { page } = await serveLog(`${line}{"torn`);
  const { entries, tornBytes, isAtEnd } = await page("");
  assert.equal(entries.length, 1);
  assert.equal(entries[0]?.fault, null);
  assert.equal(tornBytes, 6);
  assert.equal(isAtEnd, true);
});

test("native=false omits the parsed lines, and nothing else", async () => {
  const { page } = await serveLog(LOG);
  const [whole, lean] = [await page("?from=0"), await page("?from=0&native=false")];
  for (const [n, { entry, ...place }] of whole.entries.entries()) {
    const { native, ...neutral } = (entry ?? { native: {} }) as Record<string, unknown>;
    assert.ok(native);
    expect(lean.entries[n]).toEqual({ ...place, entry: entry === null ? null : neutral });
  }
});

test("the last entries of a log of 1 GiB are returned as fast as those of a short one", async () => {
  // Method: a hole of a gigabyte before the last lines. Reading it takes many seconds.
  const { page, path } = await serveLog(said(0));
  truncateSync(path, 2 ** 30);
  appendFileSync(path, `\n${Array.from({ length: 60 }, (_, n) => said(n)).join("")}`);
  const begun = process.cpuUsage();
  const last = await page("?limit=50");
  const { user, system } = process.cpuUsage(begun);
  assert.equal(last.entries.length, 50);
  assert.ok(last.end > 2 ** 30);
  assert.ok((user + system) / 1000 < 500, `${(user + system) / 1000} ms of CPU`);
});

test("a range of bytes is returned unchanged, in whole lines and without a torn tail", async () => {
  const { url, id } = await serveLog(`${said(0)}${said(1)}{"torn`);
  const whole = Buffer.from(said(0) + said(1));
  for (const [from, to] of [
    [0, 9999],
    [0, 0],
    [5, 17],
    [whole.length - 1, whole.length + 3],
    [whole.length, 9999],
  ] as [number, number][]) {
    const response = await fetch(url(`/${id}/bytes?from=${from}&to=${to}`));
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(bytes, whole.subarray(from, to), `${from}-${to}`);
    assert.equal(header(response, "session-to"), String(from + bytes.length));
    assert.equal(header(response, "session-end"), String(whole.length));
    assert.equal(header(response, "content-type"), "application/octet-stream");
  }
  assert.equal((await fetch(url(`/${id}/bytes?from=5&to=4`))).status, 400);
});

test("one answer holds at most as many bytes as the limit", async () => {
  const { url, id } = await serveLog(said(0).repeat(50), { limits: { bytesMax: 100 } });
  const response = await fetch(url(`/${id}/bytes`));
  assert.equal((await response.arrayBuffer()).byteLength, 100);
  assert.equal(header(response, "session-to"), "100");
});

test("a search for checkpoints that stops at its limits says so, and only then", async () => {
  const user = newUser();
  const root = tempDirectory();
  await user.write({ dialect: "rye" }, [...turnOf("a"), ...turnOf("b"), ...turnOf("c")], { root });
  const whole = await serveSessions([root]);
  const id = (await whole.json<SessionPage>("")).sessions[0]?.id ?? assert.fail("it is not listed");
  const all = await whole.json<Checkpoints>(`/${id}/checkpoints`);
  const count = all.checkpoints.length;
  for (const checkpointsMax of [count, count - 1]) {
    const { json } = await serveSessions([root], { limits: { checkpointsMax } });
    const found = await json<Checkpoints>(`/${id}/checkpoints`);
    assert.deepEqual(found.checkpoints, all.checkpoints.slice(0, checkpointsMax));
    assert.equal(found.isComplete, checkpointsMax === count);
  }
  const first = all.checkpoints[0] ?? assert.fail("there is none");
  // The distance from the first line to the end of the first checkpoint that covers it.
  const far = first.start + first.line.length + 1 - 1;
  for (const searchedBytesMax of [far, far - 1]) {
    const { json } = await serveSessions([root], { limits: { searchedBytesMax } });
    const found = await json<Checkpoints>(`/${id}/checkpoints?to=1`);
    assert.equal(found.isCovered, searchedBytesMax === far);
    assert.equal(found.isComplete, searchedBytesMax === far);
  }
});

interface Checkpoints {
  readonly end: number;
  readonly place: string;
  readonly genesis: { readonly line: string } | null;
  readonly checkpoints: readonly {
    readonly line: string;
    readonly start: number;
    readonly covers: { readonly to: number };
  }[];
  readonly foreignLines: number;
  readonly keys: readonly {
    readonly keyId: string;
    readonly publicKey: string | null;
    readonly refusal: string | null;
  }[];
  readonly isCovered: boolean;
  readonly isComplete: boolean;
}

test.each(Object.entries(SHAPES))(
  "a client can verify every byte of a signed session itself: %s",
  async (_name, shape) => {
    const user = newUser();
    const root = tempDirectory();
    const written = await user.write(shape, [...turnOf("a"), ...turnOf("b"), ...turnOf("c")], {
      root,
    });
    const { json, url } = await serveSessions([root]);
    const id = (await json<SessionPage>("")).sessions[0]?.id ?? assert.fail("it is not listed");
    const log = readFileSync(written.path);
    const all = await json<Checkpoints>(`/${id}/checkpoints`);
    assert.equal(all.place, shape.dialect === "homeagent" ? "sidecar" : "log");
    assert.ok(all.checkpoints.length >= 3);
    assert.equal(all.end, log.length);
    assert.equal(all.foreignLines, 0);
    const [key = assert.fail("no key"), ...others] = all.keys;
    assert.deepEqual([others, key.refusal], [[], null]);
    const raw = Buffer.from(key.publicKey ?? "", "base64url");
    assert.equal(createHash("sha256").update(raw).digest("hex"), key.keyId);
    const genesis = JSON.parse(all.genesis?.line ?? "{}");
    assert.equal(genesis.payload.kind, "genesis");
    // If the checkpoints are in a sidecar, the hash begins with the salt:
    // docs/formats/checkpoint.md.
    const salt = Buffer.from(all.place === "sidecar" ? genesis.payload.salt : "", "hex");
    for (const { line, start, covers } of all.checkpoints) {
      // Method: bytes and checkpoints from the server's answers; the hash is computed here.
      const response = await fetch(url(`/${id}/bytes?to=${covers.to}`));
      const hash = createHash("sha256")
        .update(salt)
        .update(Buffer.from(await response.arrayBuffer()));
      assert.equal(JSON.parse(line).payload.hash, hash.digest("hex"));
      const file = shape.dialect === "homeagent" ? readFileSync(written.sidecarPath) : log;
      assert.equal(file.toString("latin1", start, start + line.length), line);
    }
    // Every range is returned with the checkpoints inside it and the first that covers its end.
    for (let from = 0; from < log.length; from += 97) {
      const to = Math.min(log.length, from + 150);
      const part = await json<Checkpoints>(`/${id}/checkpoints?from=${from}&to=${to}`);
      const wanted = all.checkpoints.filter(({ covers }) => covers.to > from);
      const first = wanted.find(({ covers }) => covers.to >= to)?.covers.to ?? Infinity;
      assert.deepEqual(
        part.checkpoints,
        wanted.filter(({ covers }) => covers.to <= first),
      );
      assert.equal(part.isCovered, first !== Infinity);
      assert.equal(part.isComplete, true);
    }
  },
);
