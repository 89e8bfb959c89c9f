/** Gemini CLI's sessions, from real files, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { nodeSurroundings } from "../../src/core/base/node-surroundings.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { examineSessions } from "../../src/evidence/doctor/examine.ts";
import type { VerifiedEntry } from "../../src/evidence/verify/verified-entries.ts";
import { Compacted } from "../../src/resume/entry-feed.ts";
import { linesTakenBack } from "../../src/resume/retractions.ts";
import { notUnderstood } from "../../src/sessions/list/not-understood.ts";
import { copyOfSamples, logsWith, sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples");
const DIALECT = "gemini-cli";
const CHATS = "tmp/app/chats";
const ID = "app/chats/session-2026-04-23T12-52-0ab84937";
const FILES = logsWith(DIALECT, samples, (folder) =>
  ["gemini-cli/vct-gemini.jsonl", "more/gemini/jsonl_v040.jsonl"].map((name) => join(folder, name)),
);
const FOLDERS = sampleFolders(DIALECT);
/** For `test.each`: the folder of public files, where it is next to the clone. */
const PUBLIC = samples.isThere ? [samples.path] : [];

interface Row {
  readonly id?: string;
  readonly type?: string;
  readonly content?: string | { text?: string }[];
  readonly toolCalls?: { result?: unknown }[];
}

const textIn = ({ content = "" }: Row) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");

/** The last row of each id counts. */
function countRows(rows: readonly Row[]) {
  const last = [...new Map(rows.filter(({ id }) => id).map((row) => [row.id, row])).values()];
  const calls = last.flatMap(({ toolCalls = [] }) => toolCalls);
  const isPrompt = (row: Row) =>
    row.type === "user" && textIn(row) !== "" && !/^System: (Please|Potential)/.test(textIn(row));
  return {
    prompts: last.filter(isPrompt).length,
    answers: last.filter((row) => row.type === "gemini" && textIn(row) !== "").length,
    calls: calls.length,
    results: calls.filter(({ result }) => result).length,
  };
}

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const root = tempDirectory();
  const text = readFileSync(path, "utf8");
  put(root, `${CHATS}/session-2026-04-23T12-52-0ab84937.jsonl`, text);
  const read = await readSession(DIALECT, root, ID);
  const rows = rowsIn<Row>(text);
  assert.equal(read.entries.length + read.badLines, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), countRows(rows));
});

test("there are sessions that Gemini CLI wrote", () => {
  assert.ok(FOLDERS.length > 0);
});

const EDITED = "Put the linden first in trees.txt. The tree is in @picture.png";

test.each(FOLDERS)("Gemini CLI $name: sessions have the tokens of the answers", async (folder) => {
  const rows = await storeAt(DIALECT, copyOfSamples(folder)).list();
  const listed = rows.filter(({ title }) => title !== null);
  const tokens = listed.map(({ title, turns, ...row }) => {
    return [title, turns, row.inputTokens, row.outputTokens, row.totalTokens];
  });
  assert.deepEqual(tokens.sort(), [
    ["Count the birds in birds.txt and say how many there are.", 1, 200, 20, 220],
    ["Let another agent count the birds.", 1, 200, 20, 220],
    [EDITED, 3, 2670, 172, 8474],
    ["Tell me all that you know of the well.", 0, null, null, null],
    ["This request is refused.", 0, null, null, null],
  ]);
  const titled = (start: string) => listed.find(({ title }) => title?.startsWith(start));
  assert.equal(titled("Count the birds")?.parent, titled("Let another agent")?.id);
  for (const { project, badLines } of rows) {
    assert.deepEqual([project, badLines], ["/home/dev/project", 0]);
  }
});

test.each(FOLDERS)(
  "Gemini CLI $name: image, edit, failure and summary are read",
  async (folder) => {
    const root = copyOfSamples(folder);
    const edited = (await storeAt(DIALECT, root).list()).find(({ title }) => title === EDITED);
    assert.deepEqual([edited?.linesAdded, edited?.linesRemoved], [1, 1]);
    const { entries } = await readSession(DIALECT, root, edited?.id ?? "");
    const parts = entries.flatMap((entry) => (entry.saidBy ? [] : entry.parts));
    assert.deepEqual(
      parts.flatMap((part) => (part.type === "tool_call" ? part.tool : [])),
      ["read_file", "run_shell_command", "read_file", "replace"],
    );
    const errors = parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : []));
    const missing = "File not found: /home/dev/project/missing.txt";
    assert.deepEqual(errors, [null, "exit code 1", missing, null]);
    const [picture] = parts.filter((part) => part.type === "image");
    assert.match(`${picture?.mediaType} ${picture?.data}`, /^image\/png iVBOR/);
    const answers = entries.flatMap(({ role, parts: said }) =>
      role === "assistant" ? said.flatMap((part) => (part.type === "text" ? part.text : [])) : [],
    );
    assert.deepEqual(answers, [
      "I look at the file.",
      "The linden is first now; `missing.txt` does not exist.",
      "Three.",
      "It stands next to the well.",
    ]);
    const [summary] = entries.filter(({ saidBy }) => saidBy === "summary");
    const [first] = summary?.parts ?? [];
    assert.match(first?.type === "text" ? first.text : "", /^<state_snapshot>The well is deep/);
  },
);

test.each(PUBLIC)("the token counts are those that another reader expects", async (folder) => {
  const [text, expected] = ["jsonl", "expected.json"].map((ending) =>
    readFileSync(join(folder, `gemini-cli/vct-gemini.${ending}`), "utf8"),
  );
  const root = tempDirectory();
  put(root, `${CHATS}/session-2026-04-23T12-52-0ab84937.jsonl`, text ?? "");
  const [record] = JSON.parse(expected ?? "").records;
  const models: Record<string, number>[] = Object.values(record.conversationUsage);
  const sum = (...keys: string[]) =>
    models.reduce((all, model) => all + keys.reduce((of, key) => of + (model[key] ?? 0), 0), 0);
  const [listed] = await storeAt(DIALECT, root).list();
  assert.equal(listed?.inputTokens, sum("input_tokens", "tool_tokens"));
  assert.equal(listed?.outputTokens, sum("output_tokens", "thoughts_tokens"));
  assert.equal(listed?.totalTokens, sum("total_tokens"));
  // The prompt after the bare command `/init`.
  assert.match(listed?.title ?? "", /uv run/);
  assert.equal(listed?.model, "gemini-3.1-pro-preview");
});

test.each(PUBLIC)(
  "a public document has a line for itself and one for each message",
  async (folder) => {
    const root = tempDirectory();
    const text = readFileSync(join(folder, "more/gemini/small.json"), "utf8");
    put(root, `${CHATS}/session-a.json`, text);
    const read = await readSession(DIALECT, root, "app/chats/session-a.json");
    const { messages } = JSON.parse(text);
    assert.equal(read.entries.length, 1 + messages.length);
    assert.deepEqual(countsOf(read), countRows(messages));
    assert.deepEqual(
      read.entries.slice(1).map(({ native }) => native),
      messages,
    );
    const drifted = readFileSync(join(folder, "more/gemini/schema_drift.json"), "utf8");
    put(root, `${CHATS}/session-b.json`, drifted);
    const other = await readSession(DIALECT, root, "app/chats/session-b.json");
    assert.deepEqual(
      other.entries.map(({ kind, native }) => [kind, native]),
      [["other", JSON.parse(drifted)]],
    );
  },
);

const HEADER = {
  sessionId: "0ab84937-1",
  projectHash: "9d",
  startTime: "2026-04-23T12:00:00.000Z",
};
const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

test("a document has a line for itself and one for each message", async () => {
  const root = tempDirectory();
  const messages = [
    { id: "u", type: "user", content: "List the files" },
    { id: "g", type: "gemini", content: "Two.", toolCalls: [{ id: "c", name: "ls", result: [] }] },
  ];
  put(root, `${CHATS}/session-a.json`, JSON.stringify({ ...HEADER, messages }, null, 2));
  const read = await readSession(DIALECT, root, "app/chats/session-a.json");
  assert.deepEqual(countsOf(read), countRows(messages));
  assert.deepEqual(
    read.entries.slice(1).map(({ native }) => native),
    messages,
  );
  // Not a document of this form.
  const other = { conversation: messages };
  put(root, `${CHATS}/session-b.json`, JSON.stringify(other));
  const { entries } = await readSession(DIALECT, root, "app/chats/session-b.json");
  assert.deepEqual(
    entries.map(({ kind, native }) => [kind, native]),
    [["other", other]],
  );
});

test("a listing has project, title and parent of sessions, documents and subagents", async () => {
  const root = tempDirectory();
  const prompt = { id: "u", type: "user", content: [{ text: "Hi" }] };
  put(root, `${CHATS}/session-2026-04-23T12-52-0ab84937.jsonl`, lines(HEADER, prompt));
  put(root, `${CHATS}/0ab84937-1/sub.jsonl`, lines({ ...HEADER, kind: "subagent" }, prompt));
  put(root, "tmp/app/.project_root", "/home/me/app");
  const titled = { ...HEADER, summary: "A greeting", messages: [prompt] };
  put(root, "tmp/old/chats/session-x.json", JSON.stringify(titled, null, 2));
  put(root, "projects.json", JSON.stringify({ projects: { "/home/me/old": "old" } }));
  put(root, "tmp/app/logs.json", "[]");
  const rows = await storeAt(DIALECT, root).list();
  assert.deepEqual(
    rows.map(({ id, title, project, parent }) => [id, title, project, parent]).sort(),
    [
      ["app/chats/0ab84937-1/sub", "Hi", "/home/me/app", ID],
      [ID, "Hi", "/home/me/app", null],
      ["old/chats/session-x.json", "A greeting", "/home/me/old", null],
    ],
  );
  const session = storeAt(DIALECT, root).session(ID);
  assert.equal(await notUnderstood(nodeHost, session), null);
});

test("a document that was rewritten is listed as it is now", async () => {
  const root = tempDirectory();
  const store = storeAt(DIALECT, root);
  const message = (id: string) => ({ id, type: "user", content: `Prompt ${id}` });
  const write = (...ids: string[]) =>
    put(root, `${CHATS}/session-a.json`, JSON.stringify({ ...HEADER, messages: ids.map(message) }));
  write("1");
  assert.deepEqual(
    (await store.list()).map((row) => row.lines),
    [2],
  );
  write("1", "2", "3");
  assert.deepEqual(
    (await store.list()).map((row) => row.lines),
    [4],
  );
  put(root, `${CHATS}/session-a.json`, '{"sessionId":"torn\n');
  assert.deepEqual(
    (await store.list()).map((row) => [row.lines, row.badLines]),
    [[1, 1]],
  );
});

test("a message that is written again adds only what is new, and its result counts once", async () => {
  const root = tempDirectory();
  const call = { id: "c1", name: "ls", args: {} };
  const answer = { functionResponse: { id: "c1", name: "ls", response: { output: "a.txt" } } };
  const said = { id: "m", type: "gemini", content: "I look.", thoughts: [{ description: "Hm" }] };
  const tokens = { input: 10, cached: 4, output: 2, thoughts: 1, total: 13 };
  put(
    root,
    `${CHATS}/session-a.jsonl`,
    lines(
      HEADER,
      said,
      { ...said, tokens },
      { ...said, tokens, toolCalls: [call] },
      { ...said, tokens, toolCalls: [{ ...call, status: "success", result: [answer] }] },
      { id: "r", type: "user", content: [answer] },
      { ...said, id: "n", toolCalls: [{ ...call, status: "error", result: [answer] }] },
    ),
  );
  const { entries } = await readSession(DIALECT, root, "app/chats/session-a");
  assert.deepEqual(
    entries.map(({ kind, parts }) => [kind, parts.map(({ type }) => type).join()]),
    [
      ["start", ""],
      ["message", "reasoning,text"],
      ["message", ""],
      ["message", "tool_call"],
      ["message", "tool_result"],
      ["other", ""],
      ["message", "reasoning,text,tool_call,tool_result"],
    ],
  );
  const [row] = await storeAt(DIALECT, root).list();
  assert.deepEqual([row?.inputTokens, row?.outputTokens, row?.totalTokens], [6, 3, 13]);
});

test("messages that the user rewound do not count", async () => {
  const root = tempDirectory();
  const prompt = (id: string) => ({ id, type: "user", content: id });
  const rows = [HEADER, prompt("a"), prompt("b"), prompt("c"), { $rewindTo: "b" }, prompt("d")];
  put(root, `${CHATS}/session-a.jsonl`, lines(...rows));
  const { entries } = await readSession(DIALECT, root, "app/chats/session-a");
  async function* verified() {
    for (const entry of entries) yield entry as unknown as VerifiedEntry;
  }
  assert.deepEqual([...(await linesTakenBack(dialectNamed(DIALECT).turns, verified))], [3, 4]);
});

async function readRows(...rows: object[]) {
  const root = tempDirectory();
  put(root, `${CHATS}/session-a.jsonl`, lines(...rows));
  const { entries } = await readSession(DIALECT, root, "app/chats/session-a");
  return { entries, title: (await storeAt(DIALECT, root).list())[0]?.title };
}

const SNAPSHOT = "<state_snapshot>Files were listed.</state_snapshot>";

test("a row that sets the messages says what is new in them, as a summary", async () => {
  const context = { id: "x", type: "user", content: "<session_context>Monday</session_context>" };
  const prompt = { id: "u", type: "user", content: "List the files" };
  const answer = { id: "g", type: "gemini", content: "Two." };
  const { entries, title } = await readRows(
    HEADER,
    { $set: { messages: [context] } },
    prompt,
    answer,
    // Continued: nothing new, whatever was done to a message.
    { $set: { messages: [context, { ...prompt, content: [{ text: "[masked]" }] }, answer] } },
    {
      $set: { messages: [{ id: "r", type: "user", content: [{ functionResponse: { id: "c" } }] }] },
    },
    // Compressed.
    { $set: { messages: [{ id: "s", type: "user", content: SNAPSHOT }, answer] } },
    { $set: { messages: [] } },
    { $set: { messages: "hostile", summary: "Listing" } },
    { $set: { messages: [null, 7, { id: 3 }, { type: "user", content: "without an id" }] } },
  );
  assert.deepEqual(
    entries.map(({ kind, role, saidBy, parts }) => {
      const texts = parts.map((part) => (part.type === "text" ? part.text : part.type));
      return [kind, role, saidBy, ...texts].filter(Boolean).join(" ");
    }),
    [
      "start",
      `message user program ${context.content}`,
      "message user List the files",
      "message assistant Two.",
      "other",
      "other",
      `message user summary ${SNAPSHOT}`,
      "other",
      "other",
      "other",
    ],
  );
  assert.equal(title, "Listing");
});

test("resuming continues with what the last such row has, and what follows it", async () => {
  const prompt = (id: string) => ({ id, type: "user", content: `Prompt ${id}` });
  const snapshot = { id: "s", type: "user", content: SNAPSHOT };
  const { entries } = await readRows(
    HEADER,
    prompt("a"),
    prompt("b"),
    prompt("c"),
    { $set: { messages: [snapshot, prompt("c")] } },
    prompt("d"),
    { $set: { messages: [snapshot, prompt("c"), prompt("d")] } },
    prompt("e"),
  );
  const passed: string[] = [];
  const compacted = new Compacted(dialectNamed(DIALECT).turns, ({ aside, parts }) => {
    const [part] = parts;
    if (!aside && part?.type === "text") passed.push(part.text);
  });
  for (const entry of entries) compacted.add(entry as unknown as VerifiedEntry);
  compacted.finish();
  assert.deepEqual(passed, [SNAPSHOT, "Prompt c", "Prompt d", "Prompt e"]);
});

test("a document that a later version continued is listed once, and doctor says where it is", async () => {
  const root = tempDirectory();
  const prompt = { id: "u", type: "user", content: "Hi" };
  put(root, `${CHATS}/session-a.json`, JSON.stringify({ ...HEADER, messages: [prompt] }));
  put(root, `${CHATS}/session-a.jsonl`, lines(HEADER, prompt, { ...prompt, id: "v" }));
  put(root, `${CHATS}/session-b.json`, JSON.stringify({ ...HEADER, messages: [prompt] }));
  const ids = (await storeAt(DIALECT, root).list()).map(({ id }) => id);
  assert.deepEqual(ids.sort(), ["app/chats/session-a", "app/chats/session-b.json"]);
  const older = await readSession(DIALECT, root, "app/chats/session-a.json");
  assert.equal(older.entries.length, 2);
  const codes: unknown[] = [];
  const doctor = { host: nodeHost, surroundings: nodeSurroundings, nowMs: Date.now };
  for await (const step of examineSessions(doctor, { dialect: DIALECT, root })) {
    if ("finding" in step) codes.push([step.finding.code, step.finding.path]);
  }
  assert.deepEqual(codes, [["OLDER_FILE", join(root, CHATS, "session-a.json")]]);
});

test("no link is followed out of the directory", async () => {
  const [root, elsewhere] = [tempDirectory(), tempDirectory()];
  put(elsewhere, "session-a.json", JSON.stringify({ ...HEADER, messages: [] }));
  put(root, "tmp/app/logs.json", "[]");
  symlinkSync(elsewhere, join(root, CHATS));
  put(root, "tmp/other/chats/x", "");
  symlinkSync(join(elsewhere, "session-a.json"), join(root, "tmp/other/chats/session-a.json"));
  assert.deepEqual(await storeAt(DIALECT, root).list(), []);
  for (const id of ["app/chats/session-a.json", "other/chats/session-a.json"]) {
    await assert.rejects(readSession(DIALECT, root, id), /link|symbolic|outside/);
  }
});

test("the directory is the one that Gemini CLI uses, and its setting decides what it deletes", () => {
  const { program } = dialectNamed(DIALECT);
  const at = (environment: Record<string, string>) =>
    program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(at({}), ["/home/me/.gemini"]);
  assert.deepEqual(at({ GEMINI_CLI_HOME: "/data" }), ["/data/.gemini"]);
  const root = tempDirectory();
  const days = () => program?.retention?.(root)?.days ?? null;
  assert.equal(days(), 30);
  const set = (sessionRetention: object) =>
    put(root, "settings.json", JSON.stringify({ general: { sessionRetention } }));
  set({ maxAge: "2w" });
  assert.equal(days(), 14);
  set({ enabled: false });
  assert.equal(days(), null);
});
