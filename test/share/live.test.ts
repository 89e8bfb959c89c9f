/** A live share: a turn appears once it is signed, scanned and old enough, and never disappears. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { matching } from "../../src/evidence/redact/text-matches.ts";
import { addShare } from "../../src/evidence/share/create-share.ts";
import { Decisions, followLive } from "../../src/evidence/share/live-share.ts";
import { FileShares } from "../../src/evidence/share/share-files.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { judgeBytes, keysOf } from "../support/disclosing.ts";
import { SigningUser, turnOf, writtenBy } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { HOUR_MS, KEY, WITHHOLDING } from "./sharing.ts";

async function live(delay: number, texts = WITHHOLDING.texts ?? []) {
  const user = new SigningUser();
  const store = await user.store({ dialect: "rye", root: tempDirectory() });
  const session = store.session("hello-1739012630");
  const shares = new FileShares(nodeHost, tempDirectory(), Date.now);
  const asked = {
    session: writtenBy(store, session).target,
    withholding: { ...WITHHOLDING, texts },
    isLive: true,
    expiresAtMs: Date.now() + HOUR_MS,
  };
  const warnings: string[] = [];
  const stopping = new AbortController();
  await turn(session, "turn 1");
  const { share } = await addShare(shares, asked, Date.now());
  let published = 0;
  const following = followLive(nodeHost, shares, share, asked, {
    delay,
    nowMs: Date.now,
    signal: stopping.signal,
    onShown: () => published++,
    onWarning: (text) => warnings.push(text),
  });
  const shown = async () => {
    const now = (await shares.byHash(share.sha256)) ?? assert.fail();
    const pieces: Buffer[] = [];
    for await (const piece of (await shares.copyOf(now)) ?? []) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  return {
    user,
    store,
    session,
    shares,
    share,
    shown,
    stopping,
    following,
    warnings,
    published: () => published,
  };
}

async function turn(session: Session, text: string): Promise<void> {
  for (const entry of turnOf(text)) await session.append(entry);
}

test("a turn appears once it is signed and scanned, without its secrets; revoking ends it", async () => {
  const { user, store, session, shares, share, shown, following, published } = await live(0);
  await turn(session, `the key is ${KEY}`);
  await turn(session, "turn 3");
  await until(async () => (await shown()).includes("turn 2") || (await shown()).includes("turn 1"));
  await store.close();
  await until(async () => (await shown()).includes("turn 3"));
  const bytes = await shown();
  assert.equal(judgeBytes(keysOf(user), bytes).verdict, "verified");
  assert.ok(!bytes.includes(KEY));
  assert.ok(published() >= 1);
  await shares.revoke(share.id);
  assert.equal(await following, "ended");
  assert.equal((await shown()).length, 0, "its copy is deleted");
});

test("a turn is not shown before `delay` turns follow it", async () => {
  const { session, store, shown, following, stopping, shares, share } = await live(2);
  for (const n of [2, 3, 4]) await turn(session, `turn ${n}`);
  await until(async () => (await shown()).includes("turn 1"));
  assert.ok(!(await shown()).includes("turn 3"));
  await turn(session, "turn 5");
  await until(async () => (await shown()).includes("turn 2"));
  const text = (await shown()).toString();
  assert.ok(!text.includes("turn 4") && !text.includes("turn 5"));
  stopping.abort();
  assert.equal(await following, "stopped");
  assert.equal((await shares.byHash(share.sha256))?.isLive, false);
  await store.close();
});

test("what cannot be verified or scanned is not shown, and the earlier copy stays", async () => {
  const { session, store, shown, following, stopping, warnings } = await live(0);
  await store.close();
  await until(async () => (await shown()).includes("turn 1"));
  const before = await shown();
  appendFileSync(session.path, '{"type":"checkpoint","event_type":"checkpoint","payload":{}}\n');
  await until(async () => warnings.length > 0);
  assert.match(warnings[0] ?? "", /nothing new is shown: .* is tampered/);
  assert.deepEqual(await shown(), before);
  stopping.abort();
  await following;
});

test("if something cannot be withheld, nothing is shown at all", async () => {
  const texts = ["hello-1739012630"]; // In every checkpoint.
  const { store, shown, following, stopping, warnings } = await live(0, texts);
  await store.close();
  await until(async () => warnings.length > 0);
  assert.match(warnings[0] ?? "", /nothing new is shown: .*cannot be withheld/);
  assert.equal((await shown()).length, 0);
  stopping.abort();
  await following;
});

test("what is withheld of a line is decided once: what was shown is never unshown", () => {
  const decisions = new Decisions();
  const [shown, later] = [Buffer.from('{"text":"Ada"}'), Buffer.from('{"text":"Ada again"}')];
  assert.equal(decisions.begin()(() => [])(shown, 1).length, 0);
  // Not published: the next copy decides again.
  assert.equal(decisions.begin()(matching(["Ada"]))(shown, 1).length, 1);
  assert.equal(decisions.begin()(() => [])(shown, 1).length, 0);
  decisions.keep();
  const find = decisions.begin()(matching(["Ada"]));
  assert.deepEqual([find(shown, 1).length, find(later, 2).length], [0, 1]);
  decisions.keep();
  assert.equal(decisions.begin()(() => [])(later, 2).length, 1, "and what was withheld stays so");
});
