/** `verbatim keys trust`, as a user runs it, at a terminal and in scripts. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { privateKeyPem, rawPublicKey } from "../../src/trust/keys/pem.ts";
import { kidOf, publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { CliUser, jsonLines } from "./cli.ts";

/** Another person's key, in a file of the user. */
function newKey(user: CliUser, name: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = rawPublicKey(publicKey);
  writeFileSync(join(user.cwd, name), publicKeyPem(raw));
  const kid = kidOf(nodeCrypto, raw);
  const groups = kid.match(/.{4}/g)?.join(" ") ?? "";
  return { kid, groups, raw: Buffer.from(raw).toString("base64url"), privateKey };
}

async function list(user: CliUser) {
  const { code, stdout, stderr } = await user.run(["keys", "trust", "ls", "--json"]);
  assert.equal(code, 0, stderr);
  return jsonLines(stdout);
}

test("add shows the whole id and asks; yes adds the key, any other answer exits 1", async () => {
  const user = new CliUser();
  const { kid, groups } = newKey(user, "ada.pem");
  const args = ["keys", "trust", "add", "ada.pem", "--owner", "Ada"];
  for (const typed of ["n\n", "\n", "yeah\n", ""]) {
    const { code, shown } = await user.atTerminal(args, { typed });
    assert.equal(code, 1, JSON.stringify(typed));
    expect(shown).toContain(groups);
    expect(shown).toContain("owner     Ada");
    expect(shown).toContain("trust this key? [y/N]");
    expect(shown).toContain("nothing was changed");
    assert.ok(!existsSync(join(user.home, ".config")), "nothing was made");
  }
  const { code, shown } = await user.atTerminal(args, { typed: "y\n" });
  assert.equal(code, 0);
  expect(shown).toContain(`trusted ${kid}`);
  const [entry] = await list(user);
  assert.ok(entry);
  const { addedAt, fp, publicKey, ...rest } = entry;
  assert.deepEqual(rest, {
    kid,
    owner: "Ada",
    own: false,
    purposes: ["transcript"],
    sessions: ["**"],
    validAfter: null,
    validBefore: null,
    profile: null,
    revokedAt: null,
    reason: null,
  });
  assert.ok(addedAt && fp && publicKey);
});

test("without a terminal, --yes is required; otherwise it is wrong usage and nothing changes", async () => {
  const user = new CliUser();
  const { kid } = newKey(user, "ada.pem");
  const args = ["keys", "trust", "add", "ada.pem", "--owner", "Ada"];
  const refused = await user.run(args, { input: "y\n" });
  assert.equal(refused.code, 2);
  expect(refused.stderr).toContain("--yes");
  assert.ok(!existsSync(join(user.home, ".config")));
  const { code, stdout } = await user.run([...args, "--yes"]);
  assert.equal(code, 0);
  assert.equal(stdout, `trusted ${kid}\n`);
  for (const action of ["remove", "revoke"]) {
    assert.equal((await user.run(["keys", "trust", action, kid], { input: "y\n" })).code, 2);
  }
  assert.equal((await list(user)).length, 1);
});

test("a key can be a file, stdin or base64url, with limits", async () => {
  const user = new CliUser();
  const [one, two, three] = ["1.pem", "2.pem", "3.pem"].map((name) => newKey(user, name));
  assert.ok(one && two && three);
  const yes = ["--owner", "Ada", "--yes"];
  const limits = ["--purpose", "transcript,thread", "--sessions", "ci/**,nightly-*"];
  const times = ["--valid-after", "2026-01-01", "--valid-before", "2027-01-01T12:00:00Z"];
  for (const [args, input] of [
    [["keys", "trust", "add", "1.pem", ...yes, ...limits, ...times], ""],
    [["keys", "trust", "add", "-", ...yes], readFileSync(join(user.cwd, "2.pem"), "utf8")],
    [["keys", "trust", "add", three.raw, ...yes], ""],
  ] as const) {
    const { code, stderr } = await user.run(args, { input });
    assert.equal(code, 0, stderr);
  }
  const entries = await list(user);
  assert.deepEqual(
    entries.map(({ kid }) => kid),
    [one.kid, two.kid, three.kid],
  );
  const { purposes, sessions, validAfter, validBefore } = entries[0] ?? {};
  assert.deepEqual(purposes, ["transcript", "thread"]);
  assert.deepEqual(sessions, ["ci/**", "nightly-*"]);
  assert.equal(validAfter, "2026-01-01T00:00:00.000Z");
  assert.equal(validBefore, "2027-01-01T12:00:00.000Z");
});

test("a key that begins with a dash is not taken for an option", async () => {
  const user = new CliUser();
  let raw = "";
  // One of 64 keys does.
  while (!raw.startsWith("-")) {
    const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    raw = x;
  }
  const { code, stderr } = await user.run(["keys", "trust", "add", raw, "--owner", "Ada", "--yes"]);
  assert.equal(code, 0, stderr);
});

test("wrong usage is reported, and a value that is not a key is refused with the reason", async () => {
  const user = new CliUser();
  const { privateKey } = newKey(user, "ada.pem");
  writeFileSync(join(user.cwd, "private.pem"), privateKeyPem(privateKey), { mode: 0o600 });
  writeFileSync(join(user.cwd, "small.pem"), publicKeyPem(new Uint8Array(32)));
  const owner = ["--owner", "Ada", "--yes"];
  for (const [args, code, said] of [
    [["ada.pem", "--yes"], 2, "--owner"],
    [["ada.pem", "--owner", "a\nb", "--yes"], 2, "one line"],
    [["ada.pem", ...owner, "--purpose", "everything"], 2, "--purpose takes transcript, thread"],
    [["ada.pem", ...owner, "--purpose", ""], 2, "--purpose"],
    [["ada.pem", ...owner, "--sessions", "a,,b"], 2, "--sessions takes globs"],
    [["ada.pem", ...owner, "--valid-after", "tomorrow"], 2, "--valid-after takes"],
    [["ada.pem", ...owner, "--valid-before", "2026-02-30"], 2, "--valid-before takes"],
    [["none.pem", ...owner], 7, "no such file"],
    [["private.pem", ...owner], 7, "it is a private key"],
    [["small.pem", ...owner], 7, "small order"],
    [["A".repeat(43), ...owner], 7, "small order"],
    [["-", ...owner], 7, "not one PEM block"],
  ] as const) {
    const ran = await user.run(["keys", "trust", "add", ...args]);
    assert.equal(ran.code, code, `${args.join(" ")}: ${ran.stderr}`);
    expect(ran.stderr).toContain(said);
  }
  assert.deepEqual(await list(user), []);
});

test("the user's own keys are listed first; they can be revoked, but not removed", async () => {
  const user = new CliUser();
  const { kid } = newKey(user, "ada.pem");
  await user.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes"]);
  await user.run(["keys", "init"]);
  const [own, added] = await list(user);
  assert.deepEqual([own?.own, own?.owner, own?.purposes], [true, "you", ["transcript", "thread"]]);
  assert.equal(added?.kid, kid);
  const ownKid = String(own?.kid);
  const removed = await user.run(["keys", "trust", "remove", ownKid, "--yes"]);
  assert.equal(removed.code, 2);
  expect(removed.stderr).toContain("revoke it instead");
  const args = ["keys", "trust", "revoke", ownKid.slice(0, 8), "--reason", "stolen"];
  const { shown } = await user.atTerminal(args, { typed: "yes\n" });
  expect(shown).toContain("revoke this key for good? [y/N]");
  expect(shown).toContain(`revoked ${ownKid}`);
  const [after] = await list(user);
  assert.equal(after?.reason, "stolen");
  assert.ok(after?.revokedAt);
  const { stdout } = await user.run(["keys", "ls"]);
  expect(stdout).toContain("current, revoked");
});

test("a removed key is unknown, and a name without a match is reported", async () => {
  const user = new CliUser();
  const { kid } = newKey(user, "ada.pem");
  await user.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes"]);
  const twice = await user.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes"]);
  assert.match(
    twice.stderr,
    /it has the key already; `verbatim keys trust remove [0-9a-f]{64}` removes/,
  );
  const { code, stdout } = await user.run(["keys", "trust", "remove", kid.slice(0, 12), "--yes"]);
  assert.equal(code, 0);
  assert.equal(stdout, `removed ${kid}\n`);
  assert.deepEqual(await list(user), []);
  const again = await user.run(["keys", "trust", "remove", kid, "--yes"]);
  assert.equal(again.code, 7);
  expect(again.stderr).toContain("KEY_NOT_FOUND");
});

test("a project cannot add trusted keys", async () => {
  // Method: files that a project could contain, in the places where a lax program would look.
  const user = new CliUser();
  const { kid } = newKey(user, "ada.pem");
  await user.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes"]);
  const trusted = readFileSync(join(user.home, ".config/verbatim/trust.json"));
  const other = new CliUser();
  for (const name of ["trust.json", ".verbatim.json", "config.json"]) {
    writeFileSync(join(other.cwd, name), trusted);
  }
  const env = { XDG_CONFIG_HOME: ".", XDG_STATE_HOME: "." };
  const { stdout } = await other.run(["keys", "trust", "ls", "--json"], { env });
  assert.ok(!stdout.includes(kid));
  assert.equal(stdout, "");
});

test("an unknown key is revoked in advance, by its whole id or its file, and then never trusted", async () => {
  const [ada, ben] = [new CliUser(), new CliUser()];
  const record = ["record", "--session", "hello-1739012630", "--directive", "hello", "--sign"];
  const input = '{"type":"user_message","text":"hi"}\n';
  assert.equal((await ada.run([...record, "--dialect", "rye"], { input })).code, 0);
  const { stdout: pem } = await ada.run(["keys", "export"]);
  const [own] = jsonLines((await ada.run(["keys", "trust", "ls", "--json"])).stdout);
  const kid = String(own?.kid);
  const log = join(ada.cwd, ".ai/threads/hello-1739012630/transcript.jsonl");
  const short = await ben.run(["keys", "trust", "revoke", kid.slice(0, 12), "--yes"]);
  expect([short.code, short.stderr]).toEqual([7, expect.stringContaining("by its whole id")]);
  writeFileSync(join(ben.cwd, "ada.pem"), pem);
  for (const [name, isKnown] of [
    [kid, false],
    ["ada.pem", true],
  ] as const) {
    const revoked = await ben.run(["keys", "trust", "revoke", name, "--reason", "stolen", "--yes"]);
    expect([revoked.code, revoked.stdout]).toEqual([0, `revoked ${kid}\n`]);
    const [entry] = jsonLines((await ben.run(["keys", "trust", "ls", "--json"])).stdout);
    expect([entry?.kid, entry?.reason, entry?.publicKey !== null]).toEqual([
      kid,
      "stolen",
      isKnown,
    ]);
    const verified = await ben.run(["verify", log]);
    expect([verified.code, verified.stdout]).toEqual([4, expect.stringContaining("KEY_REVOKED")]);
    const added = await ben.run(["keys", "trust", "add", "ada.pem", "--owner", "Ada", "--yes"]);
    expect([added.code, added.stderr]).toEqual([7, expect.stringContaining("was revoked")]);
    assert.equal((await ben.run(["keys", "trust", "remove", kid, "--yes"])).code, 0);
  }
});
