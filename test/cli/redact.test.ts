/** `verbatim redact` and `verify FILE.vbd`: what a person and a script see. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";

const ID = "hello-1739012630";
const SECRET = `ship it to 17 Mill Lane, please, before the end of the week: ${"z".repeat(40)}`;

class Redactor extends CliUser {
  readonly path = join(this.cwd, ".ai/threads", ID, "transcript.jsonl");

  async record(texts: readonly string[], isSigned = true): Promise<void> {
    const more = isSigned ? ["--sign"] : [];
    const turns = texts.flatMap((text) => [
      { type: "step_start" },
      { type: "assistant_text", text },
    ]);
    const args = ["record", "--dialect", "rye", "--directive", "hello", "--session", ID, ...more];
    const input = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
    assert.equal((await this.run(args, { input })).code, 0);
  }

  redact(...args: string[]) {
    return this.run(["redact", ID, "--reason", "private", ...args]);
  }
}

test("a copy is shown before it is written, and a reader with the public key verifies it", async () => {
  const user = new Redactor();
  await user.record(["good morning", SECRET, "code 90417", "good night"]);
  const args = ["--match", "17 Mill Lane", "--match", "90417"];
  const dry = await user.redact(...args, "--dry-run");
  expect([dry.code, dry.stdout]).toEqual([0, ""]);
  expect(dry.stderr).toMatch(/line \d+: a string, \d+ bytes \(match\)\nline \d+: the whole line/);
  assert.deepEqual(readdirSync(user.cwd), [".ai"]);

  const asked = await user.redact(...args, "-o", "hello.vbd");
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
  assert.deepEqual(readdirSync(user.cwd), [".ai"]);

  const made = await user.redact(...args, "-o", "hello.vbd", "--yes");
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("1 string withheld")]);
  const copy = join(user.cwd, "hello.vbd");
  const text = readFileSync(copy, "utf8");
  assert.ok(!text.includes("Mill Lane") && !text.includes("90417"));

  const own = await user.run(["verify", "hello.vbd"]);
  expect(own.code).toBe(0);
  expect(own.stdout).toContain("verified in part: ");
  expect(own.stdout).toContain("1 string withheld; it ends with the last head pinned here");
  expect(own.stdout).toContain("cannot be checked: hash and sig of every checkpoint");

  const reader = new CliUser();
  const { stdout: pem } = await user.run(["keys", "export"]);
  writeFileSync(join(reader.cwd, "ada.pem"), pem);
  const verify = (...more: string[]) => reader.run(["verify", copy, "--json", ...more]);
  const [untrusted, trusted] = [await verify(), await verify("--key", "ada.pem")];
  expect([untrusted.code, trusted.code]).toEqual([4, 0]);
  const unknown = { code: "KEY_UNKNOWN" };
  expect(jsonLines(untrusted.stdout)[0]).toMatchObject({ findings: [unknown, unknown] });
  expect(jsonLines(trusted.stdout)[0]).toMatchObject({
    schema: "verbatim.disclosure/1",
    verdict: "verified",
    freshness: "none",
    genesis: "opened",
    strings_withheld: 1,
    session: ID,
  });

  writeFileSync(copy, text.replace("good night", "good nighT"));
  expect((await verify("--key", "ada.pem")).code).toBe(1);
});

test("a text that was not found is named by its number, and nothing is written or erased", async () => {
  const user = new Redactor();
  await user.record([SECRET, "code 90417"]);
  const texts = ["--match", "90417", "--match", "17 mills lane"];
  const missed = "--match number 2 was not found; check its spelling";
  const log = readFileSync(user.path, "utf8");
  const cases = [
    ["-o", "a.vbd", "--yes"],
    ["-o", "a.txt", "--plain", "--yes"],
    ["--dry-run", "--json"],
    ["--in-place", "--yes"],
    ["--in-place", "--dry-run"],
  ];
  for (const more of cases) {
    const { code, stdout, stderr } = await user.redact(...texts, ...more);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`error: ${missed}\nnothing was written`);
  }
  assert.equal((await user.redact("--match", "18 Mill Lane", "--in-place", "--yes")).code, 1);
  assert.deepEqual(readdirSync(user.cwd), [".ai"]);
  assert.equal(readFileSync(user.path, "utf8"), log);
  const allowed = ["--allow-missing", "-o", "a.vbd", "--yes"];
  const { code, stderr } = await user.redact(...texts, ...allowed);
  assert.equal(code, 0);
  expect(stderr).toContain(`warning: ${missed}`);
});

test("an existing file is never replaced, and nothing is left next to it", async () => {
  const user = new Redactor();
  await user.record([SECRET, "more"]);
  writeFileSync(join(user.cwd, "mine.vbd"), "mine");
  const { code, stderr } = await user.redact("--entry", "1", "-o", "mine.vbd", "--yes");
  expect([code, stderr]).toEqual([2, expect.stringContaining("exists already")]);
  assert.equal(readFileSync(join(user.cwd, "mine.vbd"), "utf8"), "mine");
  assert.deepEqual(readdirSync(user.cwd).sort(), [".ai", "mine.vbd"]);
});

test("verify --key is refused for a session, whose signer is trusted by `keys trust add`", async () => {
  const user = new Redactor();
  await user.record([SECRET]);
  const { code, stderr } = await user.run(["verify", ID, "--key", "ada.pem"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("verbatim keys trust add FILE --owner"),
  ]);
});

test("wrong arguments are wrong usage", async () => {
  const user = new Redactor();
  await user.record([SECRET]);
  const cases = [
    ["redact", ID, "--match", "x", "-o", "a.vbd"],
    ["redact", ID, "--reason", "r", "-o", "a.vbd"],
    ["redact", ID, "--reason", "r", "--match", "x"],
    ["redact", ID, "--reason", "r", "--match", "x", "-o", "a.jsonl"],
    ["redact", ID, "--reason", "r", "--match", "x", "-o", "a.vbd", "--plain"],
    ["redact", ID, "--reason", "r", "--entry", "0", "-o", "a.vbd"],
    ["redact", ID, "--reason", "r", "--match", "", "-o", "a.vbd"],
  ];
  for (const args of cases) expect([args, (await user.run(args)).code]).toEqual([args, 2]);
  const rule = await user.redact("--rule", "nonsense", "--dry-run");
  expect([rule.code, rule.stderr]).toEqual([2, expect.stringContaining("BAD_SETTING")]);
});

test("what is in a checkpoint cannot be withheld", async () => {
  const user = new Redactor();
  await user.record([SECRET, "more"]);
  const { code, stderr } = await user.redact("--match", ID, "-o", "a.vbd", "--yes");
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining("CANNOT_WITHHOLD")]);
  assert.notEqual(code, 0);
  assert.ok(!existsSync(join(user.cwd, "a.vbd")));
});

test("an unsigned session is refused, and --plain writes a masked copy that proves nothing", async () => {
  const user = new Redactor();
  await user.record([SECRET, "code 90417", "the rest"], false);
  const args = ["--match", "Mill Lane", "--match", "90417", "--yes"];
  const refused = await user.redact(...args, "-o", "a.vbd");
  expect(refused.stderr).toMatch(/CANNOT_DISCLOSE/);
  expect(refused.stderr).toContain("--plain");
  const plain = await user.redact(...args, "--plain", "-o", "a.jsonl");
  expect(plain.code).toBe(0);
  const text = readFileSync(join(user.cwd, "a.jsonl"), "utf8");
  assert.ok(!text.includes("Mill Lane") && !text.includes("90417") && text.includes("the rest"));
  for (const line of text.trimEnd().split("\n")) JSON.parse(line);
});

test("an unsigned tail is left out and counted", async () => {
  const user = new Redactor();
  await user.record([SECRET, "more"]);
  const [first = ""] = readFileSync(user.path, "utf8").split("\n");
  appendFileSync(user.path, `${first}\n`);
  await user.redact("--match", "Mill Lane", "-o", "a.vbd", "--yes");
  const { code, stdout } = await user.run(["verify", "a.vbd", "--json"]);
  expect([code, jsonLines(stdout)[0]?.left_out]).toEqual([
    0,
    { lines: 1, bytes: first.length + 1 },
  ]);
});

test("an older copy is no rollback: it says that later checkpoints were seen here", async () => {
  const user = new Redactor();
  await user.record(["one", "two"]);
  await user.redact("--entry", "1", "-o", "a.vbd", "--yes");
  await user.record(["three"]);
  const { code, stdout: said } = await user.run(["verify", "a.vbd"]);
  expect([code, said]).toEqual([0, expect.stringMatching(/verified in part: .* withheld\n/)]);
  expect(said).toMatch(/up to checkpoint \d+; later ones were seen here/);
  expect((await user.run(["verify", "a.vbd", "--require-pin"])).code).toBe(0);
  const { stdout } = await user.run(["keys", "head", "export"]);
  const other = new CliUser();
  writeFileSync(join(other.cwd, "pins.jsonl"), stdout);
  const { stdout: pem } = await user.run(["keys", "export"]);
  writeFileSync(join(other.cwd, "ada.pem"), pem);
  const copy = join(user.cwd, "a.vbd");
  const args = ["verify", copy, "--key", "ada.pem", "--json"];
  const freshness = async (...more: string[]) => {
    const run = await other.run([...args, ...more]);
    return [run.code, jsonLines(run.stdout)[0]?.freshness];
  };
  expect(await freshness()).toEqual([0, "none"]);
  expect(await freshness("--against", "pins.jsonl")).toEqual([0, "behind"]);
});

test("a copy that a pinned head contradicts is a rollback", async () => {
  const user = new Redactor();
  await user.record(["one", "two"]);
  const before = readFileSync(user.path);
  await user.record(["this way", "and on", "and on"]);
  await user.redact("--entry", "1", "-o", "a.vbd", "--yes");
  expect((await user.run(["verify", "a.vbd"])).code).toBe(0);
  writeFileSync(user.path, before);
  const meta = join(user.path, "../thread.json");
  if (existsSync(meta)) rmSync(meta);
  expect((await user.run(["keys", "head", "accept", ID, "--yes"])).code).toBe(0);
  await user.record(["or that way"]);
  const { code, stdout } = await user.run(["verify", "a.vbd", "--json"]);
  expect([code, jsonLines(stdout)[0]]).toEqual([
    6,
    expect.objectContaining({ findings: [expect.objectContaining({ code: "FORK" })] }),
  ]);
});

test("a copy is not written where an erasure leaves one, and a copy of the same log there is no alarm", async () => {
  const user = new Redactor();
  await user.record(["one", "two"]);
  const place = `${user.path}.vbd`;
  const { code, stderr } = await user.redact("--entry", "1", "-o", place, "--yes");
  expect([code, stderr]).toEqual([2, expect.stringContaining("choose another file")]);
  assert.ok(!existsSync(place));
  await user.redact("--entry", "1", "-o", "a.vbd", "--yes");
  renameSync(join(user.cwd, "a.vbd"), place);
  expect((await user.run(["verify", ID])).code).toBe(0);
  await user.record(["three"]);
  const later = await user.run(["verify", ID]);
  expect([later.code, later.stdout]).toEqual([0, expect.stringContaining("verified")]);
  // One of another log is an alarm, as before.
  const other = new Redactor();
  await other.record(["one", "two"]);
  await other.redact("--entry", "1", "-o", "a.vbd", "--yes");
  writeFileSync(place, readFileSync(join(other.cwd, "a.vbd")));
  expect((await user.run(["verify", ID])).code).not.toBe(0);
});

test("show and export read what a copy shows, and say what it proves", async () => {
  const user = new Redactor();
  await user.record([`${SECRET}: ${"x".repeat(80)}`, "a line to be withheld", "the rest"]);
  const texts = ["--match", "Mill Lane", "--match", "to be withheld"];
  await user.redact(...texts, "-o", "a.vbd", "--yes");
  const { code, stdout, stderr } = await user.run(["show", "a.vbd"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("a.vbd: verified in part: ")]);
  expect(stderr).not.toContain("identity: unknown");
  expect(stdout).toContain("[withheld]");
  expect(stdout).toContain("the rest");
  expect(stdout).not.toMatch(/Mill Lane|to be withheld/);
  const page = await user.run(["export", "a.vbd", "--format", "html", "-o", "a.html"]);
  expect(page.code).toBe(0);
  expect(readFileSync(join(user.cwd, "a.html"), "utf8")).toContain("the rest");
  expect((await user.run(["show", "a.vbd", "--follow"])).code).toBe(2);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("verbatim-show-"))).toEqual([]);
});

test("nothing is shown of a copy that was changed", async () => {
  const user = new Redactor();
  await user.record([SECRET, "the rest"]);
  await user.redact("--match", "Mill Lane", "-o", "a.vbd", "--yes");
  const path = join(user.cwd, "a.vbd");
  writeFileSync(path, readFileSync(path, "utf8").replace("the rest", "the best"));
  const { code, stdout, stderr } = await user.run(["show", "a.vbd"]);
  expect([code, stdout]).toEqual([7, ""]);
  expect(stderr).toContain("NOT_VERIFIED");
});

test("resume and import refuse a copy", async () => {
  const user = new Redactor();
  await user.record([SECRET, "more"]);
  await user.redact("--match", "Mill Lane", "-o", "a.vbd", "--yes");
  for (const args of [
    ["resume", "a.vbd", "--for", "anthropic"],
    ["import", "a.vbd"],
  ]) {
    const { code, stderr } = await user.run(args);
    expect([args, code, stderr]).toEqual([args, 7, expect.stringContaining("DISCLOSED_COPY")]);
  }
});

test("the rules of scan say what to withhold", async () => {
  const user = new Redactor();
  const key = `AKIA${"ABCDEFGHIJKLMNOP"}`;
  await user.record([
    `the key is ${key}, and the address ada@mill-lane.net: ${"y".repeat(60)}`,
    "b",
  ]);
  const { code } = await user.redact("--rule", "all", "--mask", "-o", "a.vbd", "--yes");
  expect(code).toBe(0);
  const text = readFileSync(join(user.cwd, "a.vbd"), "utf8");
  assert.ok(!text.includes("ada@mill-lane.net"));
  expect(text).toContain("[withheld]");
  expect((await user.run(["verify", "a.vbd"])).code).toBe(0);
});
