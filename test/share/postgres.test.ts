/** Shares in a database: two servers on it, and the command line's part. */

import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { addShare, createShare } from "../../src/evidence/share/create-share.ts";
import { followLive } from "../../src/evidence/share/live-share.ts";
import { SHARE_LIMITS } from "../../src/evidence/share/share.ts";
import { PART_BYTES, ShareTables } from "../../src/evidence/share/share-tables.ts";
import { LOOK_MS } from "../../src/server/shares/shared-copies.ts";
import { bearer, makeToken } from "../server/auth/token-user.ts";
import { serveSessions } from "../server/sessions/served.ts";
import { judgeBytes, keysOf } from "../support/disclosing.ts";
import { docsPage } from "../support/docs-page.ts";
import { ManualTime } from "../support/manual-time.ts";
import { lacksPostgres, newDatabase, rowsIn } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { ENTRIES, HOUR_MS, KEY, OPTIONS, SECRETS, sharer, WITHHOLDING } from "./sharing.ts";

const STRANGER = "vbs_AAAAAAAAAAAAAAAAAAAAAA";
const get = (url: string, token: string) => fetch(`${url}/v1/share`, { headers: bearer(token) });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

async function tablesOf(store: string, nowMs = Date.now): Promise<ShareTables> {
  const tables = await ShareTables.open(store, nowMs);
  onTestFinished(() => tables.close());
  return tables;
}

/**
 * Two servers on one database; the session is on the first one only. The time of both passes when
 * the test says so.
 */
async function served(unsigned: string | null = null) {
  const store = await newDatabase();
  const { user, root: signed, written } = await sharer();
  const root = unsigned ?? signed;
  const time = new ManualTime(Date.now());
  const options = { store, durability: "memory", time } as const;
  const { server: one } = await serveSessions([root], options);
  const { server: two } = await serveSessions([], options);
  const asked = {
    session: written.target,
    withholding: WITHHOLDING,
    expiresAtMs: Date.now() + HOUR_MS,
  };
  const admins: string[] = [];
  for (const { directory } of [one, two]) admins.push((await makeToken(directory)).token);
  const clients = [one, two].map(
    ({ url }, n) => new VerbatimClient({ url, token: admins[n] ?? "" }),
  );
  const [owner = assert.fail(), other = assert.fail()] = clients;
  const tables = await tablesOf(store, time.nowMs);
  return { store, time, user, one, two, owner, other, asked, tables };
}

async function everyValue(store: string): Promise<string> {
  const named = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'verbatim'";
  const names = (await rowsIn(store, named)).map(({ name }) => String(name));
  assert.ok(names.includes("shares") && names.includes("share_parts"));
  const all: string[] = [];
  for (const name of names) {
    for (const row of await rowsIn(store, `SELECT * FROM verbatim.${name}`)) {
      for (const each of Object.values(row)) {
        all.push(Buffer.isBuffer(each) ? each.toString("latin1") : JSON.stringify(each));
      }
    }
  }
  return all.join("\n");
}

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a share made by one server is read byte for byte from another, and revoked there", async () => {
    const { store, user, one, two, owner, other, tables } = await served();
    const session = (await owner.sessions.list()).sessions[0]?.id ?? assert.fail();
    const match = [...(WITHHOLDING.texts ?? [])];
    const { id, token } = await owner.share({ session, match });
    const copies = [await get(one.url, token), await get(two.url, token)];
    assert.deepEqual(
      copies.map(({ status }) => status),
      [200, 200],
    );
    const [first = Buffer.alloc(0), second] = await Promise.all(copies.map(bytesOf));
    assert.deepEqual(second, first);
    assert.equal(judgeBytes(keysOf(user), first).verdict, "verified");
    const values = await everyValue(store);
    for (const secret of [...SECRETS, token, token.slice(4)]) assert.ok(!values.includes(secret));

    assert.deepEqual(
      (await tables.list()).map((each) => each.id),
      [id],
    );
    await other.revokeShare(id);
    for (const { url } of [one, two]) assert.equal((await get(url, token)).status, 404);
    assert.deepEqual(await rowsIn(store, "SELECT * FROM verbatim.share_parts"), []);
    await assert.rejects(other.revokeShare("ffffffff"), /there is no share/);
    await assert.rejects(other.revokeShare("x%00"), /there is no share/);
  });

  test("a masked share is read from another server, whole; what it masks is in no table", async () => {
    const user = new SigningUser();
    const root = tempDirectory();
    const entries = [said("Mail ada@lovelace.org"), ...ENTRIES];
    await user.write({ dialect: "verbatim" }, entries, { root, sign: false });
    const { store, two, owner, other } = await served(root);
    const [item = assert.fail()] = (await owner.sessions.list()).sessions;
    const preview = Buffer.from(await owner.previewShare({ session: item.id }));
    assert.deepEqual(await rowsIn(store, "SELECT * FROM verbatim.shares"), []);
    const { id, token, kind } = await owner.share({ session: item.id });
    assert.equal(kind, "masked");
    const copy = await bytesOf(await get(two.url, token));
    assert.equal(copy.toString(), preview.toString());
    assert.ok(copy.includes("Mail [email]") && copy.includes("the key is [key]"));
    const values = await everyValue(store);
    for (const secret of [KEY, "ada@lovelace.org"]) assert.ok(!values.includes(secret));
    await other.revokeShare(id);
    assert.equal((await get(two.url, token)).status, 404);
    assert.deepEqual(await rowsIn(store, "SELECT * FROM verbatim.share_parts"), []);
  });

  test("what one process publishes or revokes ends waits and downloads on another server", async () => {
    const { time, two, asked, tables } = await served();
    const { token, share } = await createShare(nodeHost, tables, asked, OPTIONS);
    const after = (version: number) =>
      fetch(`${two.url}/v1/share?after=${version}`, { headers: bearer(token) });
    const timers = time.timers;
    const isWaiting = () => time.timers === timers + 2; // For the next look, and its time limit.
    const waiting = after(1);
    await until(isWaiting, "waiting");
    const big = Buffer.alloc(40_000_000, "parts of a large copy ");
    await tables.publish(share.id, async (out) => {
      out.write(big.subarray(0, 1_500_000));
      out.write(big.subarray(1_500_000));
    });
    time.pass(LOOK_MS);
    const newer = await waiting;
    assert.equal(newer.headers.get("share-version"), "2");
    assert.ok((await bytesOf(newer)).equals(big));
    await until(() => time.timers === timers, "the end of the request");

    const left = after(2);
    const reading = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${two.url}/v1/share`, { headers: bearer(token) }, resolve)
        .on("error", reject)
        .end();
    });
    reading.on("error", () => {}); // Not read yet: the server waits for the reader.
    await until(isWaiting, "waiting");
    await tables.revoke(share.id);
    time.pass(LOOK_MS);
    assert.equal((await left).status, 404);
    reading.resume();
    await new Promise((resolve) => reading.on("close", resolve));
    assert.equal(reading.complete, false, "the download was cut");
  });

  test("a live share in the database shows on another server, and ends for its follower", async () => {
    const { two, user, other, asked, tables } = await served();
    const { token, share } = await addShare(tables, { ...asked, isLive: true }, Date.now());
    const following = followLive(nodeHost, tables, share, asked, {
      ...OPTIONS,
      signal: new AbortController().signal,
      onShown: () => {},
    });
    await until(async () => (await tables.list())[0]?.version === 1, "a copy was published");
    const response = await get(two.url, token);
    assert.equal(response.headers.get("share-live"), "yes");
    assert.equal(judgeBytes(keysOf(user), await bytesOf(response)).verdict, "verified");
    await other.revokeShare(share.id);
    assert.equal(await following, "ended");
  });

  test("an unknown, an expired and a revoked token have the same answer on every server", async () => {
    const { time, one, two, asked, tables } = await served();
    const make = (expiresAtMs: number) =>
      createShare(nodeHost, tables, { ...asked, expiresAtMs }, OPTIONS);
    const revoked = await make(Date.now() + 2 * HOUR_MS);
    const expired = await make(Date.now() + HOUR_MS);
    assert.equal((await get(two.url, expired.token)).status, 200);
    await tables.revoke(revoked.share.id);
    time.pass(1.5 * HOUR_MS);
    const answers: unknown[] = [];
    for (const { url } of [one, two]) {
      for (const token of [STRANGER, "x", revoked.token, expired.token]) {
        const response = await get(url, token);
        const { date: _, ...headers } = Object.fromEntries(response.headers);
        answers.push([response.status, headers, await response.text()]);
      }
    }
    for (const each of answers) assert.deepEqual(each, answers[0]);
    assert.equal((answers[0] as unknown[])[0], 404);
    await tables.settle(revoked.share.id); // Any change deletes the parts of expired shares.
    const { length } = await tables.list();
    assert.equal(length, 2);
    assert.equal(await tables.copyOf({ ...expired.share, version: 1 }), null);
  });

  test("a copy that fails leaves the earlier one; parts have at most 1 MiB", async () => {
    const { store, asked, tables, two } = await served();
    const { token, share } = await addShare(tables, asked, Date.now());
    const write = (size: number, fill: string) => {
      return tables.publish(share.id, async (out) => out.write(Buffer.alloc(size, fill)));
    };
    await write(PART_BYTES + 1, "a");
    const failed = tables.publish(share.id, async (out) => {
      out.write(Buffer.alloc(3 * PART_BYTES, "b"));
      throw new Error("the scan failed");
    });
    await assert.rejects(failed, /the scan failed/);
    const copy = await bytesOf(await get(two.url, token));
    assert.ok(copy.equals(Buffer.alloc(PART_BYTES + 1, "a")));
    const sizes =
      "SELECT version, length(bytes) AS size FROM verbatim.share_parts ORDER BY 1, part";
    const stored = async () => (await rowsIn(store, sizes)).map((row) => [row.version, row.size]);
    assert.deepEqual(await stored(), [
      ["1", PART_BYTES],
      ["1", 1],
    ]);
    await write(PART_BYTES, "c");
    await write(1, "d");
    assert.deepEqual(await stored(), [
      ["3", PART_BYTES],
      ["4", 1],
    ]);
    const racing = tables.publish(share.id, async (out) => {
      out.write(Buffer.from("slow"));
      await write(2, "e");
    });
    await refusal(racing, "SHARES_REFUSED");
    assert.equal((await bytesOf(await get(two.url, token))).toString(), "ee");
    const ending = tables.publish(share.id, async (out) => {
      out.write(Buffer.from("late"));
      await tables.revoke(share.id);
    });
    await refusal(ending, "SHARE_NOT_FOUND");
    assert.deepEqual(await stored(), []);
  });

  test("rows are as the format page describes them, and there is a limit of shares", async () => {
    const { store, asked, tables } = await served();
    const id = "hello-1739012630";
    const logId = `.ai/threads/${id}/transcript.jsonl`;
    const session = { dialect: "rye", root: "/src/app", id, logId };
    const withholding = { rules: ["default"], texts: ["x"], reason: "so" };
    const { share } = await addShare(tables, { ...asked, session, withholding }, Date.now());
    const [row] = await rowsIn(store, "SELECT * FROM verbatim.shares");
    const [settings] = docsPage("formats/postgres").lines("jsonl postgres-share-settings");
    assert.equal(row?.settings, settings);
    assert.deepEqual(await tables.list(), [share]);
    const more = `INSERT INTO verbatim.shares (id, sha256, "createdAt", "expiresAt", "isLive", settings)
      SELECT 'x' || n, 'x' || n, 0, 9e15, false, settings
      FROM verbatim.shares, generate_series(3, ${SHARE_LIMITS.sharesMax}) AS n`;
    await rowsIn(store, more);
    await addShare(tables, asked, Date.now());
    await refusal(addShare(tables, asked, Date.now()), "SHARES_REFUSED");
    const later = await tablesOf(store, () => Date.now() + 31 * 86_400_000);
    await later.drop("ffffffff"); // The two that have ended over 30 days ago are deleted.
    const [left] = await rowsIn(store, "SELECT count(*) AS n FROM verbatim.shares");
    assert.equal(left?.n, String(SHARE_LIMITS.sharesMax - 2));
  });

  test("tables of version 4 are upgraded; those of a later version are refused", async () => {
    const { store, asked, tables } = await served();
    await rowsIn(store, "DROP TABLE verbatim.share_parts, verbatim.shares");
    await rowsIn(store, "DROP TABLE verbatim.tokens, verbatim.token_list, verbatim.token_writes");
    await rowsIn(store, "UPDATE verbatim.version SET number = 4");
    const upgraded = await tablesOf(store);
    await addShare(upgraded, asked, Date.now());
    assert.equal((await tables.list()).length, 1);
    await rowsIn(store, "UPDATE verbatim.version SET number = 99");
    await refusal(ShareTables.open(store, Date.now), "POSTGRES_REFUSED");
    await rowsIn(store, "ALTER TABLE verbatim.shares RENAME TO other");
    await assert.rejects(tables.list(), /a newer server has upgraded the database to version 99/);
  });

  test("a database that is not there is reported, without the password", async () => {
    const url = "postgres://me:secret@127.0.0.1:1/none";
    const error = await refusal(ShareTables.open(url, Date.now), "STORE_UNAVAILABLE");
    assert.ok(!JSON.stringify([error.message, error.details]).includes("secret"));
  });
});
