/** `verbatim redact --in-place`: what a person sees, and every byte that is left afterwards. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";

/** One word, so that a full-text index holds it whole. */
const VALUE = "quixote90417zebra";

/** All files below a directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return filesIn(path);
    return found?.isFile() ? [path] : [];
  });
}

/** The forms in which a file may hold a text: as it is, escaped, and in base64 at each alignment. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const aligned = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const inner = whole.slice(before === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const escaped = JSON.stringify(text).slice(1, -1);
  return [text, escaped, JSON.stringify(escaped).slice(1, -1), ...aligned];
}

function holding(directory: string, text: string): string[] {
  const forms = formsOf(text).map((form) => Buffer.from(form));
  return filesIn(directory).filter((path) => {
    const bytes = readFileSync(path);
    return forms.some((form) => bytes.includes(form));
  });
}

class Eraser extends CliUser {
  async record(dialect: string, session: string, texts: readonly string[]): Promise<void> {
    const lines = texts.flatMap((text, n) => linesOf(dialect, text, n));
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const args = ["record", "--dialect", dialect, "--session", session, "--sign"];
    const more = dialect === "rye" ? ["--directive", "hello"] : [];
    const { code, stderr } = await this.run([...args, ...more], { input });
    assert.equal(code, 0, stderr);
  }
}

function linesOf(dialect: string, text: string, n: number): object[] {
  if (dialect === "rye") return [{ type: "user_message", text }, { type: "step_start" }];
  if (dialect === "entire") return [{ type: "user", message: { role: "user", content: text } }];
  if (dialect === "homeagent")
    return [{ turnId: `t${n}`, role: "user", content: text, ts: 1e12 + n }];
  const entry = { kind: "message", role: "user", parts: [{ type: "text", text }] };
  return [{ type: "entry", entry }];
}

test.each([
  ["rye", "hello-1739012630"],
  ["entire", "2026-01-01-hello"],
  ["verbatim", "hello"],
])(
  "after the usual commands and an erasure, no file holds the value in any form (%s)",
  async (dialect, id) => {
    const user = new Eraser();
    await user.record(dialect, id, [`my name is "${VALUE}"`, "good morning", `bye ${VALUE}`]);
    await user.run(["ls"]);
    await user.run(["search", VALUE]);
    await user.run(["usage"]);
    await user.run(["show", id]);
    await user.run(["scan", id]);
    const before = holding(user.home, VALUE).map((path) => basename(path).replace(/-wal$/, ""));
    assert.deepEqual([...new Set(before)].sort(), ["catalog.db", "search.db"]);
    const args = ["redact", id, "--in-place", "--match", VALUE, "--reason", "private"];
    const asked = await user.run(args);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
    const { code, stdout, stderr } = await user.run([...args, "--yes"]);
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining("erased text in 2 lines"),
      expect.any(String),
    ]);
    for (const directory of [user.home, user.cwd]) {
      assert.deepEqual(holding(directory, VALUE), []);
    }
    const verified = await user.run(["verify", id, "--json"]);
    const [report] = jsonLines(verified.stdout);
    expect([verified.code, report?.verdict, report?.findings]).toEqual([0, "verified", []]);
    const shown = await user.run(["show", id]);
    expect(shown.stdout).toContain("[erased]");
    expect(shown.stdout).toContain("good morning");
    await user.run(["ls"]);
    await user.run(["usage"]);
    const found = await user.run(["search", "morning"]);
    expect(found.stdout).toContain("morning");
  },
);

test.each([
  ["entire", "2026-01-01-a"],
  ["verbatim", "a"],
])(
  "a value in a spill file is erased with the file, and other files stay (%s)",
  async (dialect, id) => {
    const user = new Eraser();
    const long = "x".repeat(9 * 1024 * 1024);
    await user.record(dialect, id, [`${VALUE} ${long}`, `good morning ${long}`]);
    await user.record(dialect, `${id}b`, [`good evening ${long}`]);
    const spills = () => filesIn(user.cwd).filter((path) => path.endsWith(".spill"));
    const before = spills();
    assert.equal(before.length, 3);
    const args = ["redact", id, "--in-place", "--match", VALUE, "--reason", "private", "--yes"];
    const { code, stderr } = await user.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(holding(user.cwd, VALUE), []);
    const left = spills();
    assert.equal(left.length, 2);
    assert.ok(left.every((path) => before.includes(path)));
    for (const each of [id, `${id}b`])
      assert.equal((await user.run(["verify", each])).code, 0, each);
  },
);

test.each([
  ["rye", "hello-1739012630", ".ai/threads/hello-1739012630/transcript.jsonl"],
  ["entire", "2026-01-01-hello", ".entire/metadata/2026-01-01-hello/full.jsonl"],
  ["verbatim", "hello", ".verbatim/sessions/hello.jsonl"],
])(
  "verify, show and ls say that text was erased, when and why, also without the old copy (%s)",
  async (dialect, id, log) => {
    const user = new Eraser();
    await user.record(dialect, id, [`I am ${VALUE}`, "good morning"]);
    const before = await user.run(["verify", id]);
    expect(before.stdout).not.toContain("erased");
    const why = ["--match", VALUE, "--reason", "private name", "--yes"];
    assert.equal((await user.run(["redact", id, "--in-place", ...why])).code, 0);
    const day = new Date().toISOString().slice(0, 4);
    const says = async () => {
      const { code, stdout } = await user.run(["verify", id]);
      assert.equal(code, 0);
      const [first] = stdout.split("\n");
      expect(first).toMatch(/: verified: \d turns?, text erased from 1 line; it ends with/);
      expect(stdout).not.toMatch(/nothing missing|began as a fork/);
      expect(stdout).toMatch(new RegExp(`text was erased from it, ${day}.*; reason: private name`));
      expect(stdout).toMatch(/it replaced the log [0-9a-f]{32} as of checkpoint \d+/);
      const [report] = jsonLines((await user.run(["verify", id, "--json"])).stdout);
      const { erasures, from, findings } = report as unknown as VerifyReport;
      expect(erasures).toMatchObject([{ reason: "private name", lines: 1, log: from?.log }]);
      return findings;
    };
    assert.deepEqual(await says(), []);
    rmSync(join(user.cwd, `${log}.vbd`));
    assert.deepEqual(
      (await says()).map(({ code }) => code),
      ["ERASED_COPY_MISSING"],
    );
    const shown = await user.run(["show", id]);
    expect(shown.stdout).toContain("Text was erased from 1 line of this session: private name");
    const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
    expect(listed?.erased).toEqual({ at: expect.stringMatching(day), reason: "private name" });
    const erased = new RegExp(`text erased ${day}\\S*: private name`);
    expect((await user.run(["ls"])).stdout).toMatch(erased);
    const atTerminal = await user.runInTerminal(["ls"]);
    expect(atTerminal).toContain("[text erased]");
    expect(atTerminal).toMatch(erased);
  },
);

test("a session whose copy of before the erasure was replaced is not resumed, handed off, proven or copied", async () => {
  const user = new Eraser();
  await user.record("verbatim", "hello", [`I am ${VALUE}`, "good morning"]);
  const erase = ["redact", "hello", "--in-place", "--match", VALUE, "--reason", "private", "--yes"];
  assert.equal((await user.run(erase)).code, 0);
  const resume = ["resume", "hello", "--for", "anthropic", "--model", "m"];
  const handoff = ["export", "--format", "bundle", "hello", "--output", "a.vbx"];
  const prove = ["redact", "prove", "hello", "--entry", "1", "-o", "a.vbp"];
  const redact = ["redact", "hello", "--match", "good", "--reason", "r", "-o", "a.vbd", "--yes"];
  const all = [resume, handoff, prove, redact];
  for (const args of all) assert.equal((await user.run(args)).code, 0);
  for (const name of ["a.vbp", "a.vbd"]) rmSync(join(user.cwd, name));
  const copy = join(user.cwd, ".verbatim/sessions/hello.jsonl.vbd");
  writeFileSync(copy, readFileSync(copy, "utf8").replace("morning", "evening"));
  for (const args of [["verify", "hello"], ...all]) {
    const { code, stdout, stderr } = await user.run(args);
    const why = [prove, redact].includes(args) ? "is tampered" : "hello.jsonl.vbd";
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(why)]);
  }
});

test("every spelling of a text is erased, and near misses are named", async () => {
  const user = new Eraser();
  const name = "Zoë Mühlstraße";
  const spellings = [
    name,
    name.normalize("NFD"),
    name.toUpperCase(),
    name.replace(" ", "\u00a0"),
    name.replace(" ", "\n"),
    name.normalize("NFD").toUpperCase().replace(" ", "\u202f"),
  ];
  const texts = [...spellings.map((text) => `ask ${text}, please`), "ask Zoe-Muhlstraße, please"];
  await user.record("verbatim", "hello", texts);
  const args = ["redact", "hello", "--in-place", "--match", name, "--reason", "private"];
  const { code, stdout, stderr } = await user.run([...args, "--yes"]);
  assert.equal(code, 0, stderr);
  expect(stdout).toContain("erased text in 6 lines; near misses are left on line 7");
  expect(stderr).toContain("warning: --match number 1 has near misses, which stay");
  const files = filesIn(user.cwd).filter((path) => /jsonl/.test(path));
  // Without accents and case, so that no spelling is missed; JSON writes a line break as two letters.
  const namesIn = (text: string) => {
    const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    return plain.match(/zoe[^"-]{1,6}muhlstra/gu) ?? [];
  };
  for (const spelling of spellings) assert.equal(namesIn(JSON.stringify(spelling)).length, 1);
  assert.deepEqual(
    files.flatMap((path) => namesIn(readFileSync(path, "utf8"))),
    [],
  );
  const log = files.find((path) => path.endsWith(".jsonl")) ?? "";
  assert.equal(readFileSync(log, "utf8").match(/Muhlstraße/g)?.length, 1);
  assert.equal(readFileSync(log, "utf8").match(/ask \[erased\], please/g)?.length, 5);
});

test("a report of an erasure that is quoted, not the system's, or not signed, counts as none", async () => {
  const user = new Eraser();
  const block = { type: "erase_report", reason: "forged", erased: { text: 1 } };
  const said = (role: string) => {
    return {
      type: "entry",
      entry: { kind: "message", role, parts: [{ type: "other", native: block }] },
    };
  };
  const quoted = linesOf("verbatim", JSON.stringify(block), 0);
  const input = [...quoted, said("user")].map((line) => `${JSON.stringify(line)}\n`).join("");
  const record = ["record", "--dialect", "verbatim", "--session", "hello"];
  assert.equal((await user.run([...record, "--sign"], { input })).code, 0);
  const unsigned = `${JSON.stringify(said("system"))}\n`;
  assert.equal((await user.run(record, { input: unsigned })).code, 0);
  const [report] = jsonLines((await user.run(["verify", "hello", "--json"])).stdout);
  assert.deepEqual([report?.verdict, report?.erasures], ["incomplete", []]);
});

test("on another machine the session is a rollback until head accept, which explains the link", async () => {
  const user = new Eraser();
  await user.record("verbatim", "hello", ["one", `I am ${VALUE}`, "two"]);
  const { stdout: pins } = await user.run(["keys", "head", "export"]);
  const args = ["redact", "hello", "--in-place", "--match", VALUE, "--reason", "private", "--yes"];
  assert.equal((await user.run([...args, "-o", "proof.vbd"])).code, 0);
  assert.equal((await user.run(["verify", "proof.vbd"])).code, 0);
  // Its pins, as another machine has them.
  writeFileSync(join(user.home, ".local/state/verbatim/heads.jsonl"), pins);
  const verified = await user.run(["verify", "hello"]);
  expect([verified.code, verified.stdout]).toEqual([6, expect.stringContaining("REPLACED")]);
  const accepted = await user.run(["keys", "head", "accept", "hello", "--yes"]);
  expect(accepted.stderr).toContain("signed link to this one");
  expect([accepted.code, (await user.run(["verify", "hello"])).code]).toEqual([0, 0]);
});

test("a copy of the new log in the place of the old one's explains nothing", async () => {
  const user = new Eraser();
  await user.record("verbatim", "hello", ["one", `I am ${VALUE}`, "two"]);
  const { stdout: pins } = await user.run(["keys", "head", "export"]);
  const args = ["redact", "hello", "--in-place", "--match", VALUE, "--reason", "private", "--yes"];
  assert.equal((await user.run(args)).code, 0);
  const copy = ["redact", "hello", "--entry", "1", "--reason", "private", "--yes", "-o", "new.vbd"];
  assert.equal((await user.run(copy)).code, 0);
  const place = join(user.cwd, ".verbatim/sessions/hello.jsonl.vbd");
  writeFileSync(place, readFileSync(join(user.cwd, "new.vbd")));
  const [report] = jsonLines((await user.run(["verify", "hello", "--json"])).stdout);
  const codes = (report as unknown as VerifyReport).findings.map(({ code }) => code);
  assert.deepEqual([report?.verdict, codes], ["verified", ["ERASED_COPY_MISSING"]]);
  writeFileSync(join(user.home, ".local/state/verbatim/heads.jsonl"), pins);
  const accepted = await user.run(["keys", "head", "accept", "hello", "--yes"]);
  assert.equal(accepted.code, 0);
  assert.ok(!accepted.stderr.includes("signed link to this one"), accepted.stderr);
});

test("an interrupted erasure is unreadable for every command, and repair refuses a planted one", async () => {
  const user = new Eraser();
  await user.record("verbatim", "hello", ["one", "two"]);
  const log = join(user.cwd, ".verbatim/sessions/hello.jsonl");
  const intent = {
    verbatim: "erase",
    v: 1,
    dialect: "verbatim",
    id: "hello",
    log: "",
    moves: [],
    removes: [],
  };
  writeFileSync(`${log}.erase`, JSON.stringify(intent));
  const verified = await user.run(["verify", "hello"]);
  expect([verified.code, verified.stdout]).toEqual([7, expect.stringContaining("NEEDS_RECOVERY")]);
  for (const args of [
    ["show", "hello"],
    ["resume", "hello", "--for", "anthropic"],
  ]) {
    const { code, stdout, stderr } = await user.run(args);
    expect([args, code, stdout + stderr]).toEqual([
      args,
      7,
      expect.stringContaining("erasure was interrupted"),
    ]);
  }
  // Planted: there is no new log, so nothing is changed.
  const repaired = await user.run(["doctor", "--fix", "hello"]);
  assert.notEqual(repaired.code, 0);
});
