/**
 * Checks in a browser, of sessions from a real server: an unaltered session is verified, one
 * altered anywhere never is, and both agree with the command line's verdict.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VerbatimClient } from "../../../src/client/client.ts";
import { newUser, serveSessions } from "../../../test/server/sessions/served.ts";
import { SHAPES, said, turnOf } from "../../../test/support/signing-user.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { BytesSource } from "./bytes-source.ts";
import { checkEnd } from "./check-end.ts";
import { checkWhole } from "./check-whole.ts";
import { type Subtle, WebProofCrypto } from "./web-crypto.ts";

const never = new AbortController().signal;

async function served(
  shape: keyof typeof SHAPES,
  turns = ["one", "two", "three"],
  entries = turns.flatMap(turnOf),
) {
  const user = newUser();
  const root = tempDirectory();
  const written = await user.write(SHAPES[shape] ?? assert.fail(), entries, { root });
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  const [item = assert.fail("it is not listed")] = (await client.sessions.list()).sessions;
  const source = (crypto = new WebProofCrypto()) =>
    new BytesSource(client.sessions, item, crypto, never);
  return {
    client,
    item,
    source,
    user,
    root,
    path: written.path,
    files: [written.path, written.sidecarPath].filter((path) => existsSync(path)),
    whole: () => checkWhole(source(), () => {}),
    end: (bytes: number) => checkEnd(source(), bytes),
  };
}

for (const shape of Object.keys(SHAPES)) {
  test(`an unaltered session is verified, whole and from any offset on: ${shape}`, async () => {
    const { whole, end, client, item } = await served(shape);
    const checked = await whole();
    assert.deepEqual(checked.findings, []);
    assert.equal(checked.verdict, "verified");
    assert.equal(checked.stretches.held, checked.stretches.total);
    assert.ok(checked.stretches.total > 3);
    assert.deepEqual(checked.turns, { held: 3, total: 3 });
    assert.equal(checked.keys.length, 1);
    const bytes = checked.bytes.total;
    for (const length of [bytes, Math.floor(bytes / 2), Math.floor(bytes / 4)]) {
      const last = await end(length);
      assert.deepEqual([last.verdict, last.findings], ["verified", []], `the last ${length}`);
      assert.equal(last.isWhole, false);
      const all = length === bytes;
      assert.equal(last.stretches.held === last.stretches.total, all);
    }
    assert.equal((await client.sessions.verify(item.id)).verdict, "verified");
  });

  test(`a session with one flipped bit in any line is never verified: ${shape}`, async () => {
    // Method: one bit in each line of the log and of its checkpoints, at another position in each.
    const { files, whole, end, client, item } = await served(shape);
    let flips = 0;
    for (const path of files) {
      const honest = readFileSync(path);
      for (let start = 0; start < honest.length; ) {
        const lf = honest.indexOf(0x0a, start);
        const at = start + ((lf - start) * ((flips * 37) % 101)) / 101;
        const flipped = Buffer.from(honest);
        flipped[at | 0] = (flipped[at | 0] ?? 0) ^ (1 << (flips % 5));
        writeFileSync(path, flipped);
        const checked = await whole();
        const theirs = await client.sessions.verify(item.id);
        assert.notEqual(checked.verdict, "verified", `byte ${at | 0} of ${path}`);
        assert.notEqual(theirs.verdict, "verified");
        if (checked.verdict === "tampered" && path === files[0]) {
          const [range] = checked.altered;
          assert.ok(range && range.from <= lf && range.to > range.from, "it covers the byte");
        }
        const last = await end(honest.length);
        assert.notEqual(last.verdict, "verified", `the end, byte ${at | 0} of ${path}`);
        flips++;
        start = lf + 1;
      }
      writeFileSync(path, honest);
    }
    assert.ok(flips > 8);
    assert.equal((await whole()).verdict, "verified", "the session is restored");
  });
}

test("a thread whose first line is long is verified, whole and its end, in either envelope", async () => {
  for (const shape of ["rye-flat", "rye-payload"]) {
    const long = said("x".repeat(2 * 1024 * 1024));
    const { whole, end } = await served(shape, [], [long, ...turnOf("one"), ...turnOf("two")]);
    const [checked, last] = [await whole(), await end(4_000)];
    assert.deepEqual([checked.verdict, checked.findings], ["verified", []], shape);
    assert.deepEqual([last.verdict, last.findings], ["verified", []], shape);
    assert.ok(last.stretches.held > 0);
  }
});

test("a rotation is followed when the server's user trusts only the old key", async () => {
  for (const shape of Object.keys(SHAPES)) {
    const writer = newUser();
    const root = tempDirectory();
    const of = SHAPES[shape] ?? assert.fail();
    await writer.write(of, turnOf("one"), { root });
    const { key, retired } = await writer.rotate();
    await writer.write(of, turnOf("two"), { root });
    const reader = newUser();
    await reader.trusts(retired.publicKey);
    const { server } = await serveSessions([root]);
    const client = new VerbatimClient({ url: server.url });
    const [item = assert.fail()] = (await client.sessions.list()).sessions;
    const source = () => new BytesSource(client.sessions, item, new WebProofCrypto(), never);
    const whole = await checkWhole(source(), () => {});
    assert.deepEqual([whole.verdict, whole.findings], ["verified", []], shape);
    assert.deepEqual(whole.turns, { held: 2, total: 2 }, shape);
    assert.deepEqual(
      whole.keys.map(({ kid }) => kid),
      [retired.kid, key.kid],
    );
    assert.equal((await checkEnd(source(), 1e6)).verdict, "verified", shape);
    await reader.revokes(retired.kid);
    assert.equal((await checkWhole(source(), () => {})).verdict, "untrusted", shape);
    assert.equal((await checkEnd(source(), 1e6)).verdict, "untrusted", shape);
  }
});

test("the altered turn is named, and no other", async () => {
  const { whole, end, path } = await served("rye-flat");
  const text = readFileSync(path, "latin1");
  writeFileSync(path, text.replace('"two: done"', '"two: gone"'), "latin1");
  const { altered, verdict, turns } = await whole();
  assert.equal(verdict, "tampered");
  assert.equal(altered.length, 1);
  const [{ from, to, turn } = assert.fail()] = altered;
  assert.equal(turn, 2);
  assert.ok(text.slice(from, to).includes('"two: done"'));
  assert.ok(!text.slice(from, to).includes('"three"'));
  assert.equal(turns.held, 1, "the lines before it are valid");
  assert.deepEqual((await end(text.length)).altered, altered);
});

test("a session with unsigned lines at its end is incomplete; one never signed, unsigned", async () => {
  const { whole, path, user, root } = await served("rye-flat", ["one"]);
  const line = readFileSync(path, "utf8").split("\n")[0] ?? "";
  writeFileSync(path, `${readFileSync(path, "utf8")}${line}\n`);
  expect(await whole()).toMatchObject({ verdict: "incomplete", turns: { held: 1, total: 1 } });
  const unsigned = { root, sign: false, id: "bare-1" };
  await user.write({ dialect: "rye" }, turnOf("bare"), unsigned);
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  for await (const item of client.sessions.all()) {
    if (item.session !== "bare-1") continue;
    const source = new BytesSource(client.sessions, item, new WebProofCrypto(), never);
    expect(await checkWhole(source, () => {})).toMatchObject({ verdict: "unsigned" });
    expect(await checkEnd(source, 1_000)).toMatchObject({ verdict: "unsigned" });
  }
});

test("a key that the server does not trust, or sends falsely, vouches for nothing", async () => {
  const { client, item, whole } = await served("rye-flat");
  const [{ keyId } = assert.fail()] = (await whole()).keys.map(({ kid }) => ({ keyId: kid }));
  assert.ok(keyId);
  const answering = (change: object) => ({
    bytes: client.sessions.bytes.bind(client.sessions),
    checkpoints: async (id: string, range: { from: number; to?: number }) => {
      const page = await client.sessions.checkpoints(id, range);
      return { ...page, keys: page.keys.map((key) => ({ ...key, ...change })) };
    },
  });
  const other = Buffer.alloc(32, 7).toString("base64url");
  for (const change of [{ publicKey: null }, { publicKey: other }, { refusal: "KEY_REVOKED" }]) {
    const source = new BytesSource(answering(change), item, new WebProofCrypto(), never);
    assert.equal((await checkWhole(source, () => {})).verdict, "untrusted", JSON.stringify(change));
    assert.equal((await checkEnd(source, 5_000)).verdict, "untrusted", JSON.stringify(change));
  }
});

test("a browser without Ed25519 calls nothing verified, and nothing tampered because of it", async () => {
  const { source } = await served("rye-flat");
  const none: Subtle = {
    importKey: () => Promise.reject(new DOMException("unknown", "NotSupportedError")),
    verify: () => Promise.reject(new DOMException("unknown", "NotSupportedError")),
  };
  const checked = await checkWhole(source(new WebProofCrypto(none)), () => {});
  assert.equal(checked.verdict, "untrusted");
  assert.equal((await checkEnd(source(new WebProofCrypto(none)), 9_000)).verdict, "untrusted");
});

test("progress goes up to the end, and a stopped check ends", async () => {
  const { client, item, source } = await served("rye-flat");
  const seen: number[] = [];
  await checkWhole(source(), (bytes, of) => seen.push(bytes / of));
  assert.equal(seen.at(-1), 1);
  const stopped = AbortSignal.abort();
  const stopping = new BytesSource(client.sessions, item, new WebProofCrypto(), stopped);
  await assert.rejects(checkWhole(stopping, () => {}));
});
