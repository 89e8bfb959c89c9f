/** `verbatim keys`, as a user runs it. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { privateKeyPem } from "../../src/trust/keys/pem.ts";
import { CliUser, jsonLines } from "./cli.ts";

async function run(user: CliUser, args: string, options: Parameters<CliUser["run"]>[1] = {}) {
  const ran = await user.run(["keys", ...args.split(" ")], options);
  assert.equal(ran.code, 0, ran.stderr);
  return ran;
}

/** A key file with mode 0600. */
function keyFile(user: CliUser, name: string): string {
  const path = join(user.cwd, name);
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKeyPem(privateKey), { mode: 0o600 });
  return path;
}

test("a user without a key has an empty list, and listing creates none", async () => {
  const user = new CliUser();
  const { stdout, stderr } = await run(user, "ls");
  assert.equal(stdout, "");
  expect(stderr).toContain("no keys in");
  assert.ok(!existsSync(join(user.home, ".config")));
  const shown = await user.run(["keys", "show"]);
  assert.equal(shown.code, 7);
  expect(shown.stderr).toContain("verbatim keys init");
  expect(shown.stderr).toContain("KEY_NOT_FOUND");
});

test("init creates a key once, and show, list and export agree on it", async () => {
  const user = new CliUser();
  const [made] = jsonLines((await run(user, "init --json")).stdout);
  assert.ok(made);
  const again = await run(user, "init --json");
  assert.deepEqual(jsonLines(again.stdout), [made]);
  expect(again.stderr).toContain("nothing was created");
  assert.deepEqual(jsonLines((await run(user, "ls --json")).stdout), [made]);
  assert.deepEqual(jsonLines((await run(user, "show --json")).stdout), [made]);
  const { stdout: shown } = await run(user, "show");
  const kid = String(made.kid);
  expect(shown).toContain(kid.match(/.{4}/g)?.join(" "));
  assert.deepEqual(Object.keys(made), [
    "kid",
    "fp",
    "publicKey",
    "state",
    "canSign",
    "revokedAt",
    "directory",
  ]);
  assert.equal(made.directory, join(user.home, ".config/verbatim/keys"));
  const { stdout: pem } = await run(user, "export");
  assert.equal(pem, readFileSync(join(String(made.directory), "public_key.pem"), "utf8"));
});

test("rotate creates another key, and every key can be named", async () => {
  const user = new CliUser();
  const [first] = jsonLines((await run(user, "init --json")).stdout);
  const { stdout, stderr } = await run(user, "rotate --json");
  const [second] = jsonLines(stdout);
  assert.ok(first && second);
  expect(stderr).toContain(`retired: ${first.kid}`);
  const states = jsonLines((await run(user, "ls --json")).stdout).map(({ kid, state }) => [
    kid,
    state,
  ]);
  assert.deepEqual(states, [
    [second.kid, "current"],
    [first.kid, "retired"],
  ]);
  for (const name of [first.kid, String(first.kid).slice(0, 8), first.fp]) {
    const [shown] = jsonLines((await run(user, `show ${name} --json`)).stdout);
    assert.equal(shown?.kid, first.kid);
  }
  assert.equal((await user.run(["keys", "show", "00000000"])).code, 7);
});

test("VERBATIM_KEY_DIR changes where keys are kept, and a relative path is refused", async () => {
  const user = new CliUser();
  const directory = join(user.home, "elsewhere");
  const [key] = jsonLines(
    (await run(user, "init --json", { env: { VERBATIM_KEY_DIR: directory } })).stdout,
  );
  assert.equal(key?.directory, directory);
  const relative = await user.run(["keys", "ls"], { env: { VERBATIM_KEY_DIR: "keys" } });
  assert.equal(relative.code, 7);
  expect(relative.stderr).toContain("BAD_SETTING");
});

test("a private key that others can read is refused with the command that corrects it", async () => {
  const user = new CliUser();
  await run(user, "init");
  const path = join(user.home, ".config/verbatim/keys/private_key.pem");
  chmodSync(path, 0o644);
  const { code, stderr } = await user.run(["keys", "show"]);
  assert.equal(code, 7);
  expect(stderr).toContain(`chmod 600 '${path}'`);
  expect(stderr).toContain("KEY_REFUSED");
});

test("a private key is exported to a new file that is 0600, or a pipe, and never to a terminal", async () => {
  const user = new CliUser();
  await run(user, "init");
  const text = readFileSync(join(user.home, ".config/verbatim/keys/private_key.pem"), "utf8");
  const { stdout, stderr } = await run(user, "export --private backup.pem");
  assert.equal(stdout, "");
  expect(stderr).toContain("warning: this is a private key");
  const path = join(user.cwd, "backup.pem");
  assert.equal(readFileSync(path, "utf8"), text);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const taken = await user.run(["keys", "export", "--private", "backup.pem"]);
  assert.equal(taken.code, 2);
  expect(taken.stderr).toContain("exists already");
  assert.equal((await run(user, "export --private -")).stdout, text);
  const terminal = await user.runInTerminal(["keys", "export", "--private"]);
  expect(terminal).toContain("not shown on a terminal");
  assert.ok(!terminal.includes("BEGIN"));
  assert.equal((await user.run(["keys", "export", "--private", "--public"])).code, 2);
});

test("an imported key becomes current if there is none; otherwise --as is required", async () => {
  const user = new CliUser();
  const [first, second] = [keyFile(user, "one.pem"), keyFile(user, "two.pem")];
  const [imported] = jsonLines((await run(user, `import ${first} --json`)).stdout);
  assert.equal(imported?.state, "current");
  const unsaid = await user.run(["keys", "import", second]);
  assert.equal(unsaid.code, 2);
  expect(unsaid.stderr).toContain("--as retired");
  await run(user, `import ${second} --as retired`);
  const { stderr } = await run(user, "import - --as current", {
    input: readFileSync(second),
  });
  expect(stderr).toContain(`retired: ${imported?.kid}`);
  const states = jsonLines((await run(user, "ls --json")).stdout).map(({ state }) => state);
  assert.deepEqual(states, ["current", "retired"]);
});

test("a file that is not a supported private key is refused with the reason, and nothing is created", async () => {
  const user = new CliUser();
  const open = keyFile(user, "open.pem");
  chmodSync(open, 0o640);
  writeFileSync(join(user.cwd, "text.pem"), "hello", { mode: 0o600 });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const rsa = privateKey.export({ format: "pem", type: "pkcs8" });
  writeFileSync(join(user.cwd, "rsa.pem"), rsa, { mode: 0o600 });
  for (const [file, reason] of [
    [open, "chmod 600"],
    ["text.pem", "not one PEM block"],
    ["rsa.pem", "not Ed25519"],
    ["none.pem", "no such file"],
  ] as const) {
    const { code, stderr } = await user.run(["keys", "import", file]);
    assert.equal(code, 7, file);
    expect(stderr).toContain(reason);
  }
  const piped = await user.run(["keys", "import", "-"], { input: "x".repeat(20_000) });
  assert.equal(piped.code, 2);
  assert.equal((await run(user, "ls")).stdout, "");
});

test("an unknown or missing action is wrong usage, and the error lists the actions", async () => {
  const user = new CliUser();
  const none = await user.run(["keys"]);
  assert.equal(none.code, 2);
  for (const name of ["init", "ls", "show", "rotate", "export", "import"]) {
    expect(none.stderr).toContain(`\n  ${name} `);
  }
  const wrong = await user.run(["keys", "rotat"]);
  assert.equal(wrong.code, 2);
  expect(wrong.stderr).toContain("Did you mean rotate?");
  const help = await user.run(["keys", "import", "--help"]);
  assert.equal(help.code, 0);
  expect(help.stdout).toContain("Examples:");
});
