/** The files of shares: what they hold, and what is refused. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import {
  newShareToken,
  SHARE_LIMITS,
  type Share,
  shareHash,
} from "../../src/evidence/share/share.ts";
import { FileShares, SHARES_FOLDER } from "../../src/evidence/share/share-files.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const NOW = Date.parse("2026-11-17T11:00:00.000Z");
const DAY = 86_400_000;

function newShares() {
  const directory = tempDirectory();
  const clock = { nowMs: NOW };
  const shares = () => new FileShares(nodeHost, directory, () => clock.nowMs);
  return { folder: join(directory, SHARES_FOLDER), clock, shares };
}

let made = 0;
const share = (more: Partial<Share> = {}): Share => ({
  id: (made++).toString(16).padStart(8, "0"),
  sha256: shareHash(newShareToken()),
  session: "hello",
  rules: ["default"],
  createdAt: new Date(NOW).toISOString(),
  expiresAt: new Date(NOW + DAY).toISOString(),
  revokedAt: null,
  isLive: false,
  version: 0,
  bytes: 0,
  ...more,
});

test("the example of the page is read", async () => {
  const { folder, shares } = newShares();
  mkdirSync(folder, { mode: 0o700 });
  const example =
    /```jsonl shares\n([^\n]+)\n/.exec(readFileSync("docs/formats/share.md", "utf8"))?.[1] ?? "";
  writeFileSync(join(folder, "shares.json"), example, { mode: 0o600 });
  const [only] = await shares().list();
  assert.deepEqual([only?.id, only?.rules], ["3f9a1c07", ["default", "match"]]);
});

test("another process sees a share, its newer copy, and its end; older copies are deleted", async () => {
  const { folder, shares, clock } = newShares();
  const one = share();
  await shares().add(one);
  const other = shares();
  const seen = async () => (await other.byHash(one.sha256)) ?? assert.fail();
  for (const version of [1, 2]) {
    await shares().publish(one.id, async (out) => out.write(Buffer.from(`copy ${version}`)));
    assert.deepEqual([(await seen()).version, (await seen()).bytes], [version, 6]);
  }
  const copies = () => readdirSync(folder).filter((name) => name.endsWith(".vbd"));
  assert.deepEqual(copies(), [`${one.id}-2.vbd`]);
  const failing = shares().publish(one.id, async (out) => {
    out.write(Buffer.from("half"));
    throw new TypeError("no scan");
  });
  await assert.rejects(failing, /no scan/);
  assert.equal((await seen()).version, 2);
  assert.equal(readFileSync(join(folder, copies()[0] ?? ""), "utf8"), "copy 2");
  clock.nowMs += DAY; // Expired.
  await refusal(
    shares().publish(one.id, async () => {}),
    "SHARE_NOT_FOUND",
  );
  await shares().revoke(one.id);
  assert.deepEqual(copies(), []);
  assert.equal(await other.copyOf(await seen()), null);
  clock.nowMs += SHARE_LIMITS.listedMs;
  assert.deepEqual(await other.list(), []);
  await refusal(other.revoke("ffffffff"), "SHARE_NOT_FOUND");
});

test("shares and copies have limits, at the limit and one past it", async () => {
  const { folder, shares } = newShares();
  await shares().add(share());
  const path = join(folder, "shares.json");
  const all = Array.from({ length: SHARE_LIMITS.sharesMax - 1 }, () => share());
  writeFileSync(path, JSON.stringify({ version: 1, shares: all }), { mode: 0o600 });
  await shares().add(share());
  await refusal(shares().add(share()), "SHARES_REFUSED");
  const { id } = all[0] ?? assert.fail();
  const piece = Buffer.alloc(SHARE_LIMITS.copyBytesMax / 256);
  const fill = (pieces: number, more: number) =>
    shares().publish(id, async (out) => {
      for (let n = 0; n < pieces; n++) out.write(piece);
      out.write(piece.subarray(0, more));
    });
  await refusal(fill(256, 1), "CANNOT_DISCLOSE");
  await fill(256, 0);
});

test("a list that is damaged, newer, or open to others is refused, and so is everything", async () => {
  const { folder, shares } = newShares();
  const one = share();
  await shares().add(one);
  const path = join(folder, "shares.json");
  const good = readFileSync(path, "utf8");
  const broken = [
    "{",
    "null",
    '{"version":2,"shares":[]}',
    '{"version":1}',
    good.replace('"isLive"', '"only"'),
    good.replace('"bytes": 0', '"bytes": -1'),
    good.replace(/"revokedAt": null/, '"revokedAt": "soon"'),
    good.replace(/\[\n {4}\{([\s\S]*)\}\n {2}\]/, "[{$1},{$1}]"),
  ];
  for (const text of broken) {
    assert.notEqual(text, good);
    writeFileSync(path, text);
    const error = await refusal(shares().byHash(one.sha256), "SHARES_REFUSED");
    assert.ok(!error.message.includes(one.sha256));
  }
  writeFileSync(path, good);
  chmodSync(path, 0o644);
  await refusal(shares().list(), "SHARES_REFUSED");
  chmodSync(path, 0o600);
  assert.equal((await shares().list()).length, 1);
  chmodSync(folder, 0o777);
  await refusal(shares().list(), "SHARES_REFUSED");
});
