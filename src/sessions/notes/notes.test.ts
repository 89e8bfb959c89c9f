import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, test } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { docsPage } from "../../../test/support/docs-page.ts";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { loadDialects } from "../../dialects/all.ts";
import { Store } from "../store/store.ts";
import { changedState, NO_NOTES, NOTE_LIMITS, noteLineIn, noteLineText } from "./note-state.ts";
import { NotesBook, subjectOf } from "./notes-book.ts";
import { changeNotes, NOTES_BYTES_MAX, readNotes } from "./notes-file.ts";
import { annotate, sessionNotes } from "./session-notes.ts";

const page = docsPage("formats/notes");
const AT = "2026-11-19T04:42:09.877Z";
const CLAUDE = { dialect: "claude-code", root: "/home/ada/.claude" };
const ID = "-home-ada-app/6f1c2b7e";
const SUBJECT = { dialect: "claude-code", session: "6f1c2b7e" };

beforeAll(() => loadDialects());

const newPath = () => join(tempDirectory(), "state", "notes.jsonl");

function fileHolding(content: string | Buffer): string {
  const path = newPath();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const change = (path: string, changes: unknown, entry: Parameters<typeof changeNotes>[2] = null) =>
  changeNotes(nodeHost, SUBJECT, entry, changes, { path, nowMs: () => Date.parse(AT) });

const linesIn = (path: string) => readFileSync(path, "utf8").split("\n").slice(0, -1);
const notesIn = (path: string) => readNotes(path).of(CLAUDE, ID);

test("the example lines are read, and written as the page shows them", () => {
  for (const kind of ["session", "stored", "entry"]) {
    for (const line of page.lines(`jsonl ${kind}`)) {
      const note = noteLineIn(line);
      assert.ok(note, line);
      assert.equal(noteLineText(note), line);
      assert.equal(note.entry !== null, kind === "entry");
      assert.equal(note.subject.store !== undefined, kind === "stored");
    }
  }
});

test("the page names the limits", () => {
  for (const limit of Object.values(NOTE_LIMITS)) {
    assert.ok(page.text.includes(limit.toLocaleString("en")), String(limit));
  }
  assert.ok(page.text.includes(`${NOTES_BYTES_MAX / 2 ** 20} MiB`));
});

test("a change is in a file that only its user can read; what it does not name stays", async () => {
  const path = newPath();
  await change(path, { starred: true, tags: ["bug", "area/ui", "bug"] });
  await change(path, { title: "  The webhook ", note: "Ask Ada.\nTwice." });

  const notes = { starred: true, title: "The webhook", tags: ["bug", "area/ui"] };
  assert.deepEqual(notesIn(path), { ...notes, note: "Ask Ada.\nTwice.", at: AT, entries: [] });
  assert.equal(linesIn(path).length, 1);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
});

test("a session and its entries have notes of their own; those without any have no line", async () => {
  const path = newPath();
  const [first, second] = [
    { start: 90, line: "aa" },
    { start: 7, line: "bb" },
  ];
  await change(path, { note: "late" }, first);
  await change(path, { starred: true }, second);
  await change(path, { title: "T" });
  const entries = notesIn(path)?.entries.map(({ start, line, note }) => ({ start, line, note }));
  assert.deepEqual(entries, [
    { ...second, note: null },
    { ...first, note: "late" },
  ]);

  await change(path, { title: null });
  await change(path, { note: "" }, first);
  assert.deepEqual(
    notesIn(path)?.entries.map(({ start }) => start),
    [7],
  );
  assert.equal(notesIn(path)?.at, null);
  await change(path, { starred: false }, { start: 7, line: "cc" });
  assert.equal(readFileSync(path, "utf8"), "");
  assert.equal(notesIn(path), null);
});

test("cut at any byte, the file keeps its other notes, also after the next change", async () => {
  const lines = ["a", "ü 🎉", "c"].map((note, n) => {
    const subject = { dialect: "claude-code", session: `s${n}` };
    return noteLineText({ ...NO_NOTES, subject, entry: null, at: AT, note });
  });
  const whole = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const last = whole.length - Buffer.byteLength(`${lines[1]}\n${lines[2]}\n`);
  const noteOf = (path: string, n: number) =>
    readNotes(path).of(CLAUDE, `-home-ada-app/s${n}`)?.note;
  for (let cut = last; cut <= whole.length; cut++) {
    const path = fileHolding(whole.subarray(0, cut));
    const left = whole.subarray(0, cut).toString().split("\n");
    await change(path, { starred: true });
    for (const [n, line] of lines.entries()) {
      const is = left.includes(line) ? ["a", "ü 🎉", "c"][n] : undefined;
      assert.equal(noteOf(path, n), is, `${n} cut at ${cut}`);
    }
    assert.equal(notesIn(path)?.starred, true);
    const after = readFileSync(path);
    assert.ok(after.subarray(0, cut).equals(whole.subarray(0, cut)), `cut at ${cut}: bytes stay`);
  }
});

test("two processes that write at once lose no note", async () => {
  const path = newPath();
  const program = "test/support/notes-child.ts";
  const children = ["a", "b"].map((name) => startChild(program, path, name, "20"));
  for (const child of children) assert.equal(await child.exitCode(), 0);

  const book = readNotes(path);
  for (const name of ["a", "b"]) {
    for (let n = 0; n < 20; n++) {
      assert.equal(book.of(CLAUDE, `-p/${name}${n}`)?.note, `${name} ${n}`);
    }
  }
});

test("lines that are not understood say nothing, and stay in the file as they are", async () => {
  const good = noteLineText({ ...NO_NOTES, subject: SUBJECT, entry: null, at: AT, starred: true });
  const bad = [
    "{",
    "null",
    "[1]",
    '"x"',
    "",
    good.replace('"v":1', '"v":2'),
    good.replace('"starred":true', '"starred":"yes"'),
    good.replace('"starred":true', '"title":"a\\nb"'),
    good.replace('"starred":true', `"note":"${"x".repeat(NOTE_LIMITS.noteCharsMax + 1)}"`),
    good.replace('"starred":true', '"tags":["a b"]'),
    good.replace('"starred":true', '"start":-1,"line":"aa"'),
    good.replace('"starred":true', '"start":1'),
    good.replace('"session":"6f1c2b7e"', '"session":["6f1c2b7e"]'),
    good.replace('"starred":true', '"color":"red"'),
    `{"__proto__":{"starred":true},${good.slice(1).replace('"starred":true,', "")}`,
    "\u0000",
  ];
  const content = Buffer.concat([
    Buffer.from(`${good}\n${bad.join("\n")}\n`),
    Buffer.of(0xff, 0xfe, 0x0a),
  ]);
  const path = fileHolding(content);
  assert.equal(notesIn(path)?.starred, true);
  assert.deepEqual(notesIn(path)?.entries, []);

  await change(path, { starred: false });
  const blankGone = content.toString("latin1").replace(`${good}\n`, "").replace("\n\n", "\n");
  assert.equal(readFileSync(path, "latin1"), blankGone);
});

test("of several lines about the same session, the last counts", () => {
  const line = { ...NO_NOTES, subject: SUBJECT, entry: null, at: AT };
  const book = new NotesBook([
    { ...line, title: "old" },
    { ...line, title: "new" },
  ]);
  assert.equal(book.of(CLAUDE, ID)?.title, "new");
});

test("a value at a limit is taken, one past it is refused and writes nothing", async () => {
  const { titleCharsMax, tagsMax, tagCharsMax, noteCharsMax, entriesMax } = NOTE_LIMITS;
  const tags = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);
  const allowed = {
    title: "x".repeat(titleCharsMax),
    tags: [...tags(tagsMax - 1), "é".repeat(tagCharsMax)],
    note: "x".repeat(noteCharsMax),
  };
  assert.deepEqual(changedState(NO_NOTES, allowed), { ...NO_NOTES, ...allowed });
  const path = newPath();
  const refused: [field: string, changes: unknown][] = [
    ["title", { title: "x".repeat(titleCharsMax + 1) }],
    ["title", { title: "a\u2028b" }],
    ["title", { title: 7 }],
    ["tags", { tags: tags(tagsMax + 1) }],
    ["tags", { tags: ["x".repeat(tagCharsMax + 1)] }],
    ...["", "a b", "a,b", "#a", "a\u0000", "<b>", 7].map((tag): [string, unknown] => [
      "tags",
      { tags: [tag] },
    ]),
    ["tags", { tags: "bug" }],
    ["note", { note: "x".repeat(noteCharsMax + 1) }],
    ["starred", { starred: 1 }],
    ["notes", { colour: "red" }],
    ["notes", JSON.parse('{"__proto__":1}')],
    ["notes", null],
    ["notes", ["starred"]],
  ];
  for (const [field, changes] of refused) {
    const { details } = await refusal(change(path, changes), "BAD_NOTE");
    assert.equal(details.field, field);
  }
  assert.equal(existsSync(dirname(path)), false);

  for (let start = 0; start < entriesMax; start++) {
    // Written by hand, for speed.
    const line = { ...NO_NOTES, subject: SUBJECT, entry: { start, line: "aa" }, at: AT };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${noteLineText({ ...line, starred: true })}\n`, {
      flag: "a",
      mode: 0o600,
    });
  }
  await change(path, { note: "again" }, { start: 3, line: "aa" });
  const { details } = await refusal(
    change(path, { note: "n" }, { start: entriesMax, line: "aa" }),
    "BAD_NOTE",
  );
  assert.equal(details.field, "entry");
  await change(path, { title: "the session itself" });
});

test("a file that is not the user's alone, too large, or a link is neither read nor written", async () => {
  const open = fileHolding("{}\n");
  chmodSync(open, 0o666);
  const link = newPath();
  mkdirSync(dirname(link), { recursive: true });
  renameSync(fileHolding("{}\n"), `${link}.real`);
  symlinkSync(`${link}.real`, link);
  const large = fileHolding(Buffer.alloc(NOTES_BYTES_MAX + 1, 0x20));
  for (const path of [open, link, large]) {
    const before = readFileSync(path);
    thrownRefusal(() => readNotes(path), "NOTES_REFUSED");
    await refusal(change(path, { starred: true }), "NOTES_REFUSED");
    assert.ok(readFileSync(path).equals(before));
  }

  const full = fileHolding(Buffer.alloc(NOTES_BYTES_MAX - 1, 0x20));
  const { details } = await refusal(change(full, { starred: true }), "NOTES_REFUSED");
  assert.equal(details.path, full);
  assert.equal(statSync(full).size, NOTES_BYTES_MAX - 1);
});

test("the agent's file, the guard's copy and the record of hooks are one session; stores differ", () => {
  const name = (dialect: string, root: string, id: string) =>
    JSON.stringify(subjectOf({ dialect, root }, id));
  const own = name("claude-code", "/home/ada/.claude/projects", "-home-ada-app/6f1c");
  assert.equal(own, name("claude-code", "/state/guard/claude-code-1", "-home-ada-app/6f1c"));
  assert.equal(own, name("claude-code", "/home/ada/.claude/projects", "-home-ada-moved/6f1c"));
  assert.equal(own, name("claude", "/home/ada/app", "claude-code-hooks/6f1c"));
  assert.notEqual(own, name("codex", "/home/ada/.codex", "6f1c"));
  assert.notEqual(name("rye", "/home/a", "t"), name("rye", "/home/b", "t"));

  const sent = (who: string) => `/data/.received/team/${who}/claude-code`;
  const received = name("claude-code", sent("@laptop/ada"), "-home-ada-app/6f1c");
  assert.notEqual(received, own);
  assert.notEqual(received, name("claude-code", sent("@laptop/bob"), "-home-ada-app/6f1c"));
  const moved = "/elsewhere/.received/team/@laptop/ada/claude-code";
  assert.equal(received, name("claude-code", moved, "-home-ada-app/6f1c"));
});

test("a note on an entry tells when the log has another line there, or none", async () => {
  process.env.XDG_STATE_HOME = tempDirectory();
  const root = tempDirectory();
  const path = join(root, "projects/-p/s.jsonl");
  const rows = ["one", "two"].map((content) => {
    return `${JSON.stringify({ type: "user", uuid: content, message: { role: "user", content } })}\n`;
  });
  const start = Buffer.byteLength(rows[0] ?? "");
  const write = (text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const session = new Store(nodeHost, { dialect: "claude-code", root }).session("-p/s");
  const areChanged = async () => {
    const { entries } = await sessionNotes(nodeHost, readNotes(), session);
    return entries.map(({ isChanged }) => isChanged);
  };
  const whole = rows.join("");
  write(whole);
  for (const place of [start - 1, start + 1, whole.length, whole.length + 1]) {
    const { details } = await refusal(
      annotate(nodeHost, session, place, { note: "n" }),
      "BAD_NOTE",
    );
    assert.equal(details.field, "entry", String(place));
  }
  await annotate(nodeHost, session, start, { note: "n" });
  assert.deepEqual(await areChanged(), [false]);
  const replaced = [whole.replace("two", "TWO"), whole.slice(0, start), "\n".repeat(start + 1), ""];
  for (const text of replaced) {
    write(text);
    assert.deepEqual(await areChanged(), [true], text);
  }
  write(`${whole}${whole}`);
  assert.deepEqual(await areChanged(), [false]);
});

test("a session is shown with the user's title, and the tags of both", () => {
  const line = { ...NO_NOTES, subject: SUBJECT, entry: null, at: AT };
  const book = new NotesBook([{ ...line, starred: true, title: "Mine", tags: ["b", "a"] }]);
  const row = { id: ID, title: "Its own", tags: ["a", "own tag"] } as never;
  assert.deepEqual(book.row(CLAUDE, row), {
    id: ID,
    title: "Mine",
    tags: ["b", "a", "own tag"],
    starred: true,
    recordedTitle: "Its own",
  });
  assert.equal(book.row({ ...CLAUDE, dialect: "codex" }, row), row);
});
