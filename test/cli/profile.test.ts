/**
 * `--profile rye`: transcripts signed by the Python original are trusted, read, vouched for and
 * handed off.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { legacyLog } from "../signing/attacks/kit.ts";
import { SigningUser } from "../support/signing-user.ts";
import { CliUser, jsonLines } from "./cli.ts";

const ID = "hello-1739012630";
const RYE = ["--profile", "rye"];

/** A user with a thread of the original, signed by a key that they do not trust yet. */
async function withOriginal(): Promise<CliUser> {
  const author = await loadSigner(nodeHost, new SigningUser().places);
  const user = new CliUser();
  const path = join(user.cwd, ".ai/threads", ID, "transcript.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await legacyLog(author));
  writeFileSync(join(user.cwd, "ada.pem"), publicKeyPem(author.publicKey));
  return user;
}

function trust(user: CliUser, ...more: string[]) {
  return user.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes", ...more]);
}

async function codeOf(user: CliUser, ...args: string[]): Promise<number | null> {
  return (await user.run(args)).code;
}

test("a key is trusted for the original's format only with --profile rye", async () => {
  const other = await withOriginal();
  assert.equal((await trust(other)).code, 0);
  assert.equal(await codeOf(other, "verify", ID, ...RYE), 4);
  const user = await withOriginal();
  assert.equal((await trust(user, "--profile", "python")).code, 2);
  const trusted = await trust(user, ...RYE);
  assert.equal(trusted.code, 0, trusted.stderr);
  const listed = jsonLines((await user.run(["keys", "trust", "ls", "--json"])).stdout);
  assert.equal(listed.find(({ owner }) => owner === "Ada")?.profile, "rye");
  assert.equal(await codeOf(user, "verify", ID, ...RYE), 0);
  assert.equal(await codeOf(user, "verify", ID), 4, "and only when it is asked for");
});

test("resume accepts the original's transcripts only with --profile rye", async () => {
  const user = await withOriginal();
  await trust(user, ...RYE);
  const resume = ["resume", ID, "--for", "openai-chat", "--model", "m"];
  const refused = await user.run(resume);
  assert.equal(refused.stdout, "");
  expect(refused.stderr).toContain("NOT_VERIFIED");
  const { code, stdout, stderr } = await user.run([...resume, ...RYE]);
  assert.equal(code, 0, stderr);
  assert.notEqual(stdout, "");
});

test("handoff accepts a thread of the original after it is vouched for with --profile rye", async () => {
  const user = await withOriginal();
  await trust(user, ...RYE);
  const bundle = join(user.cwd, "out.vbx");
  const handoff = ["export", "--format", "bundle", ID, "--output", bundle];
  for (const flags of [[], RYE]) {
    const refused = await user.run([...handoff, ...flags]);
    assert.notEqual(refused.code, 0);
    expect(refused.stderr).toContain("NOT_VERIFIED");
    assert.ok(!existsSync(bundle));
    if (flags === RYE) expect(refused.stderr).toContain("doctor --fix --vouch --profile rye");
  }
  const vouch = ["doctor", "--fix", "--vouch", "--yes", ID];
  assert.notEqual((await user.run(vouch)).code, 0);
  const vouched = await user.run([...vouch, ...RYE]);
  assert.equal(vouched.code, 0, vouched.stderr);
  expect(vouched.stdout).toMatch(/vouched for \d+ lines of hello-1739012630/);
  assert.equal(await codeOf(user, "verify", ID, "--lenient"), 0);
  const handed = await user.run([...handoff, ...RYE]);
  assert.equal(handed.code, 0, handed.stderr);
  assert.ok(existsSync(bundle));
});
