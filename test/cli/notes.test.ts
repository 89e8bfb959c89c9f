/** A user's own notes in what commands print. */

import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
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
  assert.deepEqual([none.ids, none.stderr], [[], "no session fits the filters\n"]);
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
  assert.deepEqual((await hits("tag:area/ui")).length, 2);

  const { stdout } = await user.run(["search", "retries"]);
  assert.match(
    stdout,
    /\n {2}Claude Code · app · your note\n {4}The webhook: ask Ada .*2J about retries\n/,
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
