/** A user's own notes in what commands print. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { changeNotes } from "../../src/sessions/notes/notes-file.ts";
import { answerRow, promptRow, writeClaude } from "../support/agent-home.ts";
import { CliUser, jsonLines } from "./cli.ts";

const AT = Date.parse("2026-11-02T10:00:00Z");
const IDS = ["plain", "noted", "tagged"].map((_, n) => `6f1c2d3e-1000-4000-8000-00000000000${n}`);
const [, NOTED = "", TAGGED = ""] = IDS;

/** With three sessions: one with a star, a title and a tag, one with the tag. */
async function notedUser() {
  const user = new CliUser();
  for (const [n, id] of IDS.entries()) {
    const at = AT - n * 60_000;
    writeClaude(user.home, `-home-me-app/${id}.jsonl`, [
      promptRow(`webhook ${n}`, { at }),
      answerRow(`a${n}`, { at: at + 1000 }),
    ]);
  }
  const path = join(user.home, ".local/state/verbatim/notes.jsonl");
  const note = (session: string, changes: unknown) =>
    changeNotes(nodeHost, { dialect: "claude-code", session }, null, changes, { path });
  await note(NOTED, { starred: true, title: "Mine \u202e", tags: ["bug"] });
  await note(TAGGED, { tags: ["bug", "area/ui"] });
  return { user, path, note };
}

test("ls shows the star, the user's title and the tags, and --json also the session's own title", async () => {
  const { user } = await notedUser();
  const { stdout } = await user.run(["ls"]);
  const [, plain, noted, tagged] = stdout.split("\n");
  assert.match(plain ?? "", / webhook 0$/);
  assert.match(noted ?? "", / ★ Mine \\u202e #bug$/);
  assert.match(tagged ?? "", / webhook 2 #bug #area\/ui$/);

  const rows = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.deepEqual(
    rows.map(({ title, tags, starred, recordedTitle }) => [title, tags, starred, recordedTitle]),
    [
      ["webhook 0", [], undefined, undefined],
      ["Mine \u202e", ["bug"], true, "webhook 1"],
      ["webhook 2", ["bug", "area/ui"], undefined, undefined],
    ],
  );
});

test("--tag and --starred mean the same sessions on every command with filters", async () => {
  const { user } = await notedUser();
  const ids = async (command: string, ...args: string[]) => {
    const { code, stdout, stderr } = await user.run([command, ...args, "--json"]);
    return { code, stderr, ids: jsonLines(stdout).map((row) => row.session ?? row.name) };
  };
  const short = (found: readonly unknown[]) =>
    [...new Set(found.map((id) => String(id).slice(-36)))].sort();

  for (const [filter, wanted] of [
    [
      ["--tag", "bug"],
      [NOTED, TAGGED],
    ],
    [["--tag", "area/ui"], [TAGGED]],
    [["--starred"], [NOTED]],
    [["--starred", "--tag", "bug"], [NOTED]],
  ] as const) {
    assert.deepEqual(short((await ids("ls", ...filter)).ids), wanted, `ls ${filter}`);
    assert.deepEqual(short((await ids("search", "webhook", ...filter)).ids), wanted);
    const exported = await user.run(["export", ...filter, "--format", "csv"]);
    const rows = exported.stdout.trim().split("\n").slice(1);
    for (const id of IDS) {
      const isIn = rows.some((row) => row.includes(id));
      assert.equal(isIn, (wanted as readonly string[]).includes(id), `export ${filter}`);
    }
    const usage = await user.run(["usage", "session", ...filter, "--json"]);
    const report = JSON.parse(usage.stdout) as { rows?: { session: string }[] };
    assert.deepEqual(short(Object.values(report.rows ?? []).map((row) => row.session)), wanted);
  }
  const none = await ids("ls", "--tag", "none");
  const reason = "no sessions of the tag none; sessions have these tags: area/ui, bug\n";
  assert.deepEqual([none.code, none.ids, none.stderr], [0, [], reason]);
  const both = await ids("ls", "--tag", "area/ui", "--starred");
  assert.deepEqual([both.ids, both.stderr], [[], "no session fits the filters\n"]);
});

test("search finds the user's notes, and tag: in a query means the user's tags", async () => {
  const { user, note } = await notedUser();
  await note(TAGGED, { note: "The webhook: ask Ada \u001b[2J about retries" });
  const hits = async (...query: string[]) => {
    const { stdout } = await user.run(["search", "--json", "--", ...query]);
    return jsonLines(stdout).map(({ session, isNote = false }) => [
      IDS.indexOf(String(session).slice(-36)),
      isNote,
    ]);
  };
  assert.deepEqual((await hits("webhook")).sort(), [
    [0, false],
    [1, false],
    [2, false],
    [2, true],
  ]);
  assert.deepEqual(await hits("ada retr*"), [[2, true]]);
  assert.deepEqual(await hits("mine"), [[1, true]]);
  assert.deepEqual(await hits('"ask ada"'), [[2, true]]);
  assert.deepEqual(await hits('"ada ask"'), []);
  assert.deepEqual(await hits("ada -webhook"), []);
  assert.deepEqual(await hits("ada role:user"), []);
  assert.deepEqual(await hits("webhook role:user tag:bug"), [
    [1, false],
    [2, false],
  ]);
  assert.deepEqual(await hits("webhook -tag:bug"), [[0, false]]);
  assert.deepEqual(await hits("webhook role:user -tag:area/ui tag:bug"), [[1, false]]);
  assert.deepEqual(await hits("tag:bu"), []);
  assert.deepEqual(await hits("webhook role:user starred:true"), [[1, false]]);
  assert.deepEqual(await hits("webhook role:user -starred:true"), [
    [0, false],
    [2, false],
  ]);
  assert.deepEqual((await hits("tag:area/ui")).length, 2);

  const { stdout } = await user.run(["search", "retries"]);
  assert.match(
    stdout,
    /\n {2}Claude Code · app · your note\n {4}The webhook: ask Ada .*2J about retries #bug #area\/ui\n/,
  );
  assert.ok(!stdout.includes("\u001b"));
});

test("a file of notes that others can change is reported, and the sessions are listed without it", async () => {
  const { user, path } = await notedUser();
  chmodSync(path, 0o666);
  const { code, stdout, stderr } = await user.run(["ls"]);
  assert.equal(code, 0);
  assert.match(stdout, / webhook 1\n/);
  assert.match(stderr, /^warning: the notes in .* other users can change it .* chmod 600 /);
});

test("export --notes adds the notes to a document in Markdown and to a page, and to nothing else", async () => {
  const { user, path, note } = await notedUser();
  await note(NOTED, { note: "First line\n<b>second</b>" });
  const log = join(user.home, `.claude/projects/-home-me-app/${NOTED}.jsonl`);
  const [, second = ""] = readFileSync(log, "utf8").split("\n");
  const start = readFileSync(log).indexOf(second);
  const subject = { dialect: "claude-code", session: NOTED };
  const lineOf = (text: string) =>
    createHash("sha256").update(`${text}\n`).digest("hex").slice(0, 16);
  const entry = (line: string, at: number, text: string) =>
    changeNotes(nodeHost, subject, { start: at, line }, { note: text }, { path });
  await entry(lineOf(second), start, "Here it goes wrong");
  await entry("0000000000000000", 0, "Of another line");
  const run = async (...args: string[]) => user.run(["export", NOTED, ...args]);

  const { stdout } = await run("--notes");
  const at = (text: string) => stdout.indexOf(text);
  assert.match(
    stdout,
    /> \*\*Note on the session\*\* {2}\n> ★ Mine \u202e #bug {2}\n> First line {2}\n> <b>second<\/b>/,
  );
  assert.ok(at("Note on a line that has changed") > 0);
  assert.ok(at("Of another line") < at("webhook 1"));
  assert.ok(at("a1") > 0 && at("a1") < at("Here it goes wrong"));
  const without = (await run()).stdout;
  assert.ok(!without.includes("Here it goes") && !without.includes("Mine"));

  const html = (await run("--notes", "--format", "html", "--redact", "none")).stdout;
  assert.match(html, /Note on the session<\/strong>.*<br>First line<br>&lt;b&gt;second/);
  assert.ok(html.indexOf("Here it goes wrong") > html.indexOf("a1"));
  const masked = await run("--notes", "--format", "html");
  assert.deepEqual([masked.code, masked.stdout], [2, ""]);
  assert.match(masked.stderr, /--redact none/);
  for (const format of ["jsonl", "csv", "etf", "otlp", "bundle"]) {
    const { code, stderr } = await run("--notes", "--format", format);
    assert.equal(code, 2, format);
    assert.match(stderr, /--notes is for --format md, html, not/);
  }
});

test("with a kept listing of 1,000 sessions, a new star is shown at the next ls", async () => {
  const { user, note } = await notedUser();
  for (let n = 0; n < 1_000; n++) {
    const id = `6f1c2d3e-2000-4000-8000-${String(n).padStart(12, "0")}`;
    writeClaude(user.home, `-home-me-app/${id}.jsonl`, [promptRow(`number ${n}`, { at: AT - n })]);
  }
  const first = await user.run(["ls"]);
  assert.equal(first.stdout.split("\n").length, 1_003 + 2);
  assert.equal((await user.run(["ls"])).stdout, first.stdout);
  const id = "6f1c2d3e-2000-4000-8000-000000000500";
  await note(id, { starred: true, title: "Found again" });
  assert.match((await user.run(["ls"])).stdout, /★ Found again\n/);
  await note(id, { title: "Renamed" });
  assert.match((await user.run(["ls"])).stdout, /★ Renamed\n/);
  await note(id, { starred: false, title: null });
  assert.equal((await user.run(["ls"])).stdout, first.stdout);
});
