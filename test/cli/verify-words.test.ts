/**
 * The sentences of a verdict: what a person reads, for each way in which a session can be wrong.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { describeReport } from "../../src/cli/prove/verify-text.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { addTrust, type Grant, revokeTrust } from "../../src/trust/trusted-keys/trust.ts";
import { SigningUser, type Written } from "../support/signing-user.ts";

const FLAT = { dialect: "rye", envelope: "flat" } as const;
const ID = "hello-1739012630";

async function words(user: SigningUser, written: Written): Promise<string> {
  return describeReport(await user.verify(written)).join("\n");
}

async function threeTurns() {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 3);
  const text = readFileSync(written.path, "utf8");
  return { user, written, text, key: await loadSigner(nodeHost, user.places) };
}

test("three honest turns are reported as three turns, with signer and time", async () => {
  const { user, written, key } = await threeTurns();
  const [headline, signed, ...rest] = (await words(user, written)).split("\n");
  assert.equal(
    headline,
    `${ID}: verified: 3 turns, nothing missing; it ends with the last head pinned here`,
  );
  expect(signed).toMatch(new RegExp(`^ {2}signed by you \\(${key.kid}\\), 20\\S+Z$`));
  assert.deepEqual(rest, []);
});

test("a deleted line is reported as missing from its own turn only", async () => {
  const { user, written, text } = await threeTurns();
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.includes("turn 1: done"));
  writeFileSync(written.path, lines.toSpliced(at, 1).join("\n"));
  const said = await words(user, written);
  expect(said).toContain("(turn 1) were changed after signing");
  expect(said).toContain("1 line too few");
});

test("a moved session is reported with both its ids, and no turn of it as altered", async () => {
  const { user, written } = await threeTurns();
  const id = "other-1739012631";
  const path = written.path.replace(ID, id);
  mkdirSync(dirname(path), { recursive: true });
  renameSync(written.path, path);
  const target = { ...written.target, id, logId: written.target.logId.replace(ID, id) };
  const said = await words(user, { ...written, path, target });
  expect(said).toContain(`"${ID}"`);
  expect(said).toContain(`"${id}"`);
  expect(said).not.toContain("changed after");
});

test("a rollback report says which checkpoints are missing, and since when", async () => {
  const { user, written, text } = await threeTurns();
  const first = text.indexOf("\n", text.indexOf('"kind":"turn"')) + 1;
  writeFileSync(written.path, text.slice(0, first));
  const said = await words(user, written);
  expect(said).toMatch(/checkpoint 3 was seen before, over \d+ bytes, signed 20\S+Z/);
  expect(said).toMatch(/ends with checkpoint 1, at byte \d+, signed 20\S+Z: checkpoints 2 to 3/);
});

test("converted line endings are reported as such", async () => {
  for (const shape of [FLAT, { dialect: "homeagent" } as const]) {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 2);
    writeFileSync(written.path, readFileSync(written.path, "utf8").replaceAll("\n", "\r\n"));
    const { verdict, findings } = await user.verify(written);
    assert.deepEqual([verdict, findings[0]?.code], ["tampered", "LINE_ENDINGS_CONVERTED"]);
    expect(await words(user, written)).toContain("line endings were converted to CRLF");
  }
});

test("an untrusted key is named, and only an unknown one can be added", async () => {
  const { written, key } = await threeTurns();
  const scope = { owner: "Ada", purposes: ["transcript"], sessions: ["**"] } as const;
  const grants: readonly (readonly [string, Grant | null])[] = [
    ["not trusted here", null],
    ["revoked", { publicKey: key.publicKey, ...scope }],
    [
      "whose trust ended before that",
      { publicKey: key.publicKey, ...scope, validBefore: "2020-01-01T00:00:00.000Z" },
    ],
    ["other sessions or purposes", { publicKey: key.publicKey, ...scope, sessions: ["ci/**"] }],
  ];
  for (const [why, grant] of grants) {
    const reader = new SigningUser();
    if (grant) await addTrust(nodeHost, reader.places, grant, Date.now());
    if (why === "revoked") await revokeTrust(nodeHost, reader.places, { kid: key.kid }, Date.now());
    const said = await words(reader, written);
    expect(said).toContain(`key ${key.kid}`);
    expect(said).toContain(why);
    assert.equal(said.includes("trust add"), grant === null, why);
  }
});

test("the report on an unsigned session says what to do next", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 1, { sign: false });
  expect(await words(user, written)).toContain("`verbatim doctor --fix --vouch ID`");
});
