/** Codex's rollouts: samples of real ones, and its directory with plain and compressed files. */

import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { decompress } from "../../src/dialects/files/zstd.ts";
import { iterateLogs, type Unreadable } from "../../src/dialects/find.ts";
import type { VerifiedEntry } from "../../src/evidence/verify/verified-entries.ts";
import { linesTakenBack } from "../../src/resume/retractions.ts";
import { notUnderstood } from "../../src/sessions/list/not-understood.ts";
import { refusal } from "../support/refusal.ts";
import { copyOfSamples, logsWith, sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";
import { filesIn } from "./sample.ts";

const samples = sharedFiles("samples");
const UUID = "01998190-fba6-7f40-9309-dc4e48c5844a";
const ID = `sessions/2025/09/25/rollout-2025-09-25T09-49-46-${UUID}`;

const FILES = logsWith("codex", samples, (folder) =>
  ["codex", "more/codex"].flatMap((name) => filesIn(join(folder, name))),
);

interface Row {
  readonly type?: string;
  readonly role?: string;
  readonly payload?: { readonly type?: string; readonly role?: string };
}

test.each(FILES)("every row of %s is accounted for", async (_, path) => {
  const text = readFileSync(path, "utf8");
  const root = tempDirectory();
  put(root, `${ID}.jsonl`, text);
  const read = await readSession("codex", root, ID);
  const rows = rowsIn<Row>(text);
  assert.equal(read.entries.length + read.badLines, text.replace(/\n$/, "").split("\n").length);
  // Counted without the reader.
  const items = rows.filter(({ type }) => type === "response_item").map(({ payload }) => payload);
  const all = [...items, ...rows.filter(({ payload }) => payload === undefined)];
  const has = (ending: string) => all.filter((item) => item?.type?.endsWith(ending)).length;
  const { calls, results } = countsOf(read);
  assert.deepEqual({ calls, results }, { calls: has("_call"), results: has("_output") });
});

const EDITED = "Put the linden first in trees.txt. The picture shows the tree.";
const FOLDERS = sampleFolders("codex");

test("there are rollouts that Codex wrote", () => {
  assert.ok(FOLDERS.length > 0);
});

/** The sessions of a folder by their titles, which are the prompts of scripts/agent-samples. */
async function titled(root: string) {
  const rows = await storeAt("codex", root).list();
  return new Map(rows.map((listed) => [listed.title ?? "", listed]));
}

test.each(FOLDERS)(
  "the rollouts of Codex $name have the tokens of the model's answers",
  async (folder) => {
    const listed = await titled(copyOfSamples(folder));
    const tokens = [...listed.values()].map(({ title, turns, ...row }) => {
      return [title, turns, row.inputTokens, row.outputTokens, row.totalTokens];
    });
    assert.deepEqual(tokens.sort(), [
      ["Count the birds in birds.txt.", 1, 200, 20, 220],
      ["Is one of them a maple?", 1, 250, 4, 1918],
      ["Let another agent count the birds.", 1, 300, 30, 330],
      [EDITED, 2, 2370, 200, 9482],
      ["Tell me all that you know of the well.", 2, 18_600, 920, 19_520],
      ["This request is refused.", 0, null, null, null],
    ]);
    for (const { model, project, badLines } of listed.values()) {
      assert.deepEqual([model, project, badLines], ["gpt-5.5", "/home/dev/project", 0]);
    }
    const child = listed.get("Count the birds in birds.txt.");
    assert.equal(child?.parent, listed.get("Let another agent count the birds.")?.id);
    assert.equal(listed.get("Is one of them a maple?")?.parent, null);
  },
);

test.each(FOLDERS)(
  "a rollout of Codex $name has its prompt, image, edits and failures",
  async (folder) => {
    const root = copyOfSamples(folder);
    const edited = (await titled(root)).get(EDITED);
    assert.deepEqual([edited?.linesAdded, edited?.linesRemoved], [1, 1]);
    const { entries } = await readSession("codex", root, edited?.id ?? "");
    const said = entries.filter(({ kind, role }) => kind === "message" && role !== "system");
    const parts = said.flatMap((entry) => (entry.saidBy ? [] : entry.parts));
    const texts = parts.flatMap((part) => (part.type === "text" ? part.text : []));
    assert.deepEqual(texts, [
      EDITED,
      "I look at the file.",
      "The linden is first now; `missing.txt` does not exist.",
      "How many trees are there now?",
      "Three.",
    ]);
    assert.deepEqual(
      parts.flatMap((part) => (part.type === "tool_call" ? part.tool : [])),
      ["exec_command", "exec_command", "view_image", "apply_patch", "apply_patch"],
    );
    const errors = parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : []));
    assert.deepEqual(errors, [null, "exit code 1", null, "failed", null]);
    const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? part.text : []));
    assert.equal(reasoning.at(-1), "The second line is oak, not elm.");
    const [, picture] = entries.find(({ role, saidBy }) => role === "user" && !saidBy)?.parts ?? [];
    assert.match(
      JSON.stringify(picture),
      /^\{"type":"image","mediaType":"image\/png","data":"iVBOR/,
    );
  },
);

test.each(FOLDERS)(
  "Codex $name: a compaction is a summary, a subagent is named, a refusal ends a turn",
  async (folder) => {
    const root = copyOfSamples(folder);
    const listed = await titled(root);
    const read = async (title: string) =>
      (await readSession("codex", root, listed.get(title)?.id ?? "")).entries;
    const [summary] = (await read("Tell me all that you know of the well.")).filter(
      ({ saidBy }) => saidBy === "summary",
    );
    assert.deepEqual(
      summary?.parts.map((part) => part.type === "text" && part.text.split("\n").at(-1)),
      ["Tell me all that you know of the well.", "The well is deep and old."],
    );
    const {
      reading: { subagents },
      naming: { nameOf },
    } = dialectNamed("codex");
    const started = (await read("Let another agent count the birds.")).flatMap(
      (entry) => subagents?.startedIn?.(entry) ?? [],
    );
    const child = listed.get("Count the birds in birds.txt.")?.id ?? "";
    assert.deepEqual(
      started.map(({ name }) => name),
      [nameOf?.(child)],
    );
    const last = (await read("This request is refused.")).at(-1);
    assert.deepEqual([last?.kind, last?.stopReason], ["turn_end", "error"]);
  },
);

const PUBLIC = FILES.filter(([name]) => name.startsWith("public codex/")).slice(0, 1);

test.each(PUBLIC)("%s has its prompt, answer, model and tokens", async (_, path) => {
  const text = readFileSync(path, "utf8");
  const root = tempDirectory();
  put(root, `${ID}.jsonl`, text);
  const { entries } = await readSession("codex", root, ID);
  const said = entries.filter(
    ({ kind, parts }) => kind === "message" && parts.some(({ type }) => type === "text"),
  );
  assert.deepEqual(
    said.map(({ role, saidBy }) => [role, saidBy]),
    [
      ["user", "program"],
      ["user", undefined],
      ["assistant", undefined],
    ],
  );
  const counts = [...text.matchAll(/"total_token_usage":(\{[^}]*\})/g)].map(
    ([, json = ""]) => JSON.parse(json) as Record<string, number>,
  );
  const total = counts.at(-1);
  const summary = await storeAt("codex", root).summaries().summarise(ID);
  expect(summary).toMatchObject({
    title: expect.stringMatching(/^I want to migrate this app from @supabase/),
    model: "gpt-5-codex",
    branch: "main",
    turns: 1,
    inputTokens: (total?.input_tokens ?? 0) - (total?.cached_input_tokens ?? 0),
    outputTokens: total?.output_tokens,
    totalTokens: total?.total_tokens,
    badLines: 0,
  });
});

/** A zstd frame that stores up to 128 KiB as it is. */
function stored(text: string): Buffer {
  const bytes = Buffer.from(text);
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  const frame = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]), block, bytes]);
  assert.equal(decompress(frame).toString(), text);
  return frame;
}

function row(text: string, role = "user"): string {
  const payload = { type: "message", role, content: [{ type: "input_text", text }] };
  return `${JSON.stringify({ type: "response_item", payload })}\n`;
}

function idsIn(root: string, onUnreadable?: (unreadable: Unreadable) => void): string[] {
  const options = onUnreadable ? { onUnreadable } : {};
  return [...iterateLogs(root, dialectNamed("codex").naming.layout, options)]
    .map(({ id }) => id)
    .sort();
}

test("compressed and archived rollouts are sessions, and a plain file is preferred", async () => {
  const root = tempDirectory();
  const archived = `archived_sessions/rollout-2025-01-01T00-00-00-${UUID}`;
  put(root, `${ID}.jsonl.zst`, stored(row("compressed")));
  put(root, `${archived}.jsonl.zst`, stored(row("old")));
  put(root, `${archived}.jsonl`, row("plain"));
  put(root, "sessions/2025/09/25/notes.jsonl", row("no rollout"));
  assert.deepEqual(idsIn(root), [archived, ID]);
  const texts = await Promise.all(
    [ID, archived].map(async (id) => (await readSession("codex", root, id)).entries[0]?.parts[0]),
  );
  assert.deepEqual(texts, [
    { type: "text", text: "compressed" },
    { type: "text", text: "plain" },
  ]);
  const rows = await storeAt("codex", root).list();
  assert.deepEqual(rows.map(({ title }) => title).sort(), ["compressed", "plain"]);
});

test("a damaged compressed rollout is reported with its path", async () => {
  const root = tempDirectory();
  put(root, `${ID}.jsonl.zst`, stored(row("x")).subarray(0, 20));
  const error = await refusal(readSession("codex", root, ID), "IO_ERROR");
  expect(error.message).toMatch(/rollout-.*\.jsonl\.zst cannot be decompressed: it is cut off/);
});

test("a link in a compressed rollout's place, or above it, is not followed", async () => {
  const [root, outside] = [tempDirectory(), tempDirectory()];
  const name = ID.slice(ID.lastIndexOf("/") + 1);
  put(outside, `25/${name}.jsonl.zst`, stored(row("secret")));
  put(root, "sessions/2025/09/24/x", "");
  symlinkSync(join(outside, "25"), join(root, "sessions/2025/09/25"));
  const linked = ID.replace("/25/", "/24/");
  symlinkSync(join(outside, "25", `${name}.jsonl.zst`), join(root, `${linked}.jsonl.zst`));
  const hidden: string[] = [];
  assert.deepEqual(
    idsIn(root, ({ path }) => hidden.push(path)),
    [],
  );
  assert.deepEqual(hidden.sort(), [`${linked}.jsonl.zst`, "sessions/2025/09/25"]);
  for (const id of [ID, linked]) await refusal(readSession("codex", root, id), "UNSAFE_PATH");
});

function event(payload: object): string {
  return `${JSON.stringify({ type: "event_msg", payload })}\n`;
}

function meta(id: string, more: object = {}): string {
  const payload = { id, cwd: `/home/me/${id}`, ...more };
  return `${JSON.stringify({ type: "session_meta", payload })}\n`;
}

const summaryOf = (root: string, id: string) => storeAt("codex", root).summaries().summarise(id);

test("a fork is a session of its own, with its own name as title", async () => {
  const root = tempDirectory();
  const parent = "01998190-0000-7f40-9309-dc4e48c5844a";
  const named = { type: "thread_name_updated", thread_name: "Named" };
  const lines = [
    meta(UUID, { forked_from_id: parent, git: { branch: "fix" } }),
    meta(parent),
    row("hello"),
    event(named),
  ];
  put(root, `${ID}.jsonl`, lines.join(""));
  expect(await summaryOf(root, ID)).toMatchObject({
    parent: null,
    title: "Named",
    branch: "fix",
    project: `/home/me/${UUID}`,
  });
});

test("the title is the name that a user gave the thread, also if only Codex's database has it", async () => {
  const root = tempDirectory();
  const named = event({ type: "thread_name_updated", thread_name: "Older name" });
  put(root, `${ID}.jsonl`, meta(UUID) + row("hello") + named);
  put(root, "state_4.sqlite", "not a database");
  const database = new DatabaseSync(join(root, "state_5.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT)");
  database.exec(`INSERT INTO threads VALUES ('${UUID}', 'Named by me'), ('other', NULL)`);
  expect(await summaryOf(root, ID)).toMatchObject({ title: "Named by me", parent: null });
  database.close();
  const damaged = tempDirectory();
  put(damaged, `${ID}.jsonl`, meta(UUID) + row("hello"));
  put(damaged, "state_5.sqlite", "not a database");
  expect(await summaryOf(damaged, ID)).toMatchObject({ title: "hello" });
});

test("thread names are read from the database that Codex is set to use", async () => {
  const named = (name: string) => {
    const directory = tempDirectory();
    const database = new DatabaseSync(join(directory, "state_5.sqlite"));
    database.exec("CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT)");
    database.exec(`INSERT INTO threads VALUES ('${UUID}', '${name}')`);
    database.close();
    return directory;
  };
  const before = process.env.CODEX_SQLITE_HOME;
  onTestFinished(() => {
    if (before === undefined) delete process.env.CODEX_SQLITE_HOME;
    else process.env.CODEX_SQLITE_HOME = before;
  });
  // A root is read once in a second, so each case has its own.
  const titleWith = async (config: string | null, variable: string) => {
    const root = named("own");
    put(root, `${ID}.jsonl`, meta(UUID) + row("hello"));
    if (config !== null) put(root, "config.toml", config);
    process.env.CODEX_SQLITE_HOME = variable;
    return (await summaryOf(root, ID)).title;
  };
  const [other, third] = [named("other"), named("third")];
  assert.equal(await titleWith(null, ""), "own");
  assert.equal(await titleWith(null, ` ${other} `), "other");
  assert.equal(await titleWith(null, join(other, "missing")), "hello");
  assert.equal(await titleWith(`model = "x"\nsqlite_home = "${third}"\n`, other), "third");
  assert.equal(await titleWith(`sqlite_home = '${third}' # mine\n`, ""), "third");
  assert.equal(await titleWith(`[profiles.a]\nsqlite_home = "${third}"\n`, other), "other");
  assert.equal(await titleWith("sqlite_home = 7\n", ""), "own");
  assert.equal(await titleWith('sqlite_home = "."\n', other), "own");
});

test("the parent of a subagent is the session that has its uuid", async () => {
  const parent = "01998190-0000-7f40-9309-dc4e48c5844a"; // 25 September 2025, 15:48 UTC.
  const spawned = { subagent: { thread_spawn: { parent_thread_id: parent, depth: 1 } } };
  const facts = [
    { source: spawned },
    { parent_thread_id: parent, forked_from_id: "01998190-1111-7f40-9309-dc4e48c5844a" },
  ];
  const places = [
    "sessions/2025/09/25",
    "sessions/2025/09/24",
    "sessions/2025/09/26",
    "archived_sessions",
  ].map((place) => `${place}/rollout-2025-09-25T17-48-46-${parent}`);
  for (const place of places) {
    const root = tempDirectory();
    put(root, `${place}.jsonl`, row("hello"));
    for (const more of facts) {
      put(root, `${ID}.jsonl`, meta(UUID, more) + row("again"));
      assert.equal((await summaryOf(root, ID)).parent, place);
    }
  }
  const root = tempDirectory();
  for (const hostile of ["x", "-".repeat(14), "../../etc", "\u0000"]) {
    put(root, `${ID}.jsonl`, meta(UUID, { parent_thread_id: hostile }));
    assert.notEqual((await summaryOf(root, ID)).parent, undefined);
  }
});

test("a file that Codex began after turns were reverted is a session of the same thread", async () => {
  const root = tempDirectory();
  const later = `${ID}_01998190-2222-7f40-9309-dc4e48c5844a`;
  const base = { thread_id: UUID, end_ordinal_exclusive: 14, end_byte_offset: 34319 };
  put(root, `${ID}.jsonl`, meta(UUID) + row("first"));
  put(root, `${later}.jsonl`, meta(UUID, { history_base: base }) + row("second"));
  expect(await summaryOf(root, later)).toMatchObject({
    title: "second",
    project: `/home/me/${UUID}`,
    parent: null,
  });
  assert.deepEqual(idsIn(root), [ID, later]);
  const { nameOf } = dialectNamed("codex").naming;
  assert.equal(nameOf?.(later), `${UUID}_01998190-2222-7f40-9309-dc4e48c5844a`);
});

async function takenBack(lines: readonly string[]): Promise<number[]> {
  const root = tempDirectory();
  put(root, `${ID}.jsonl`, lines.join(""));
  const { entries } = await readSession("codex", root, ID);
  async function* verified() {
    for (const entry of entries) yield entry as unknown as VerifiedEntry;
  }
  return [...(await linesTakenBack(dialectNamed("codex").turns, verified))];
}

test("turns that were rolled back do not count, and all before them do", async () => {
  const context = row("<environment_context></environment_context>");
  const asked = (text: string) => event({ type: "user_message", message: text });
  const turn = (text: string) => [row(text), asked(text), row(`${text}!`, "assistant")];
  const back = (count: unknown) => event({ type: "thread_rolled_back", num_turns: count });
  const three = [meta(UUID), context, ...turn("a"), ...turn("b"), ...turn("c")];
  assert.deepEqual(await takenBack([...three, back(1)]), [9, 10, 11]);
  assert.deepEqual(await takenBack([...three, back(2)]), [6, 7, 8, 9, 10, 11]);
  assert.deepEqual(
    await takenBack([...three, back(1), ...turn("d"), back(2)]),
    [9, 10, 11, 6, 7, 8, 13, 14, 15],
  );
  // More turns than there are: what comes before the first one stays.
  assert.deepEqual(await takenBack([...three, back(9)]), [3, 4, 5, 6, 7, 8, 9, 10, 11]);
  // The same prompt twice is two turns; an event before its item is of the item's turn.
  assert.deepEqual(await takenBack([...turn("a"), ...turn("a"), back(1)]), [4, 5, 6]);
  assert.deepEqual(await takenBack([...turn("a"), asked("b"), row("b"), back(1)]), [4, 5]);
  for (const wrong of [0, -1, 0.5, "1", null]) {
    assert.deepEqual(await takenBack([...three, back(wrong)]), []);
  }
});

test("a summary has no text of the program, and an output's first lines say how it ended", async () => {
  const root = tempDirectory();
  const item = (role: string, text: string) => JSON.parse(row(text, role)).payload;
  const history = [item("developer", "Rules"), item("user", "hello"), item("user", "Summary")];
  const output =
    "Chunk ID: 52501f\nWall time: 1.5 seconds\nProcess exited with code 3\nOutput:\nhi\n";
  const result = { type: "function_call_output", call_id: "c", output };
  const lines = [
    { type: "compacted", payload: { message: "Summary", replacement_history: history } },
    ...[output, "Exit code: 0\nWall time: 2 seconds\nOutput:\nProcess exited with code 1", 7].map(
      (each) => ({ type: "response_item", payload: { ...result, output: each } }),
    ),
  ];
  put(root, `${ID}.jsonl`, lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const { entries } = await readSession("codex", root, ID);
  assert.deepEqual(
    entries[0]?.parts.map((part) => part.type === "text" && part.text),
    ["hello", "Summary"],
  );
  assert.deepEqual(
    entries
      .slice(1)
      .flatMap(({ parts }) =>
        parts.map((part) => part.type === "tool_result" && [part.error, part.durationMs]),
      ),
    [
      ["exit code 3", 1500],
      [null, 2000],
      [null, null],
    ],
  );
});

const TRANSCRIPTS = [
  ["copilot-cli", "copilot-cli/vct-copilot.jsonl", "session-state/s1/events.jsonl"],
  ["gemini-cli", "gemini-cli/vct-gemini.jsonl", "tmp/app/chats/session-a.jsonl"],
].flatMap(([dialect = "", file = "", path = ""]) =>
  logsWith(dialect, samples, (folder) => [join(folder, file)]).map(([name, source]) => {
    return { dialect, name, source, path };
  }),
);

test.each(TRANSCRIPTS)(
  "a checkpoint of Entire with a transcript of $dialect has the same entries: $name",
  async ({ dialect, source, path }) => {
    const root = tempDirectory();
    const text = readFileSync(source, "utf8");
    put(root, path, text);
    put(root, ".entire/metadata/s1/full.jsonl", text);
    const id = dialectNamed(dialect).naming.idAt(path.split("/")) ?? "";
    const [own, read] = [
      await readSession(dialect, root, id),
      await readSession("entire", root, "s1"),
    ];
    assert.deepEqual(read, own);
    // Gemini CLI begins a second file when it continues a session, and leaves it without a prompt.
    const hasPrompt = /^\{"id".*"type":"user"|"user\.message"/m.test(text);
    assert.equal(countsOf(read).prompts > 0, hasPrompt);
  },
);

test("a checkpoint of Entire whose transcript is a rollout is read as one", async () => {
  const root = tempDirectory();
  const count = (total: number) => {
    const usage = { input_tokens: total, output_tokens: 1, total_tokens: total + 1 };
    const payload = { type: "token_count", info: { total_token_usage: usage } };
    return `${JSON.stringify({ type: "event_msg", payload })}\n`;
  };
  const context = row("<environment_context></environment_context>");
  const asked = event({ type: "user_message", message: "List the files" });
  const lines = [
    context,
    row("List the files"),
    asked,
    row("Two.", "assistant"),
    count(5),
    count(5),
    count(9),
  ];
  put(root, ".entire/metadata/s1/full.jsonl", lines.join(""));
  const { entries, badLines } = await readSession("entire", root, "s1");
  assert.equal(badLines, 0);
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ["message", "message", "other", "message", "turn_end", "other", "turn_end"],
  );
  const store = storeAt("entire", root);
  expect(await store.summaries().summarise("s1")).toMatchObject({
    title: "List the files",
    turns: 1,
    inputTokens: 9,
  });
  assert.equal(await notUnderstood(nodeHost, store.session("s1")), null);
});
