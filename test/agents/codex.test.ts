/** Codex's rollouts: samples of real ones, and its directory with plain and compressed files. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { eachLog, type Unreadable } from "../../src/catalog/find.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { decompressed } from "../../src/dialects/codex/files/zstd.ts";
import { notUnderstood } from "../../src/listing/not-understood.ts";
import { refusal } from "../support/refusal.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples", "samples", "tests with real rollouts are");
const UUID = "01998190-fba6-7f40-9309-dc4e48c5844a";
const ID = `sessions/2025/09/25/rollout-2025-09-25T09-49-46-${UUID}`;

const FILES = ["codex", "more/codex"].flatMap((folder) =>
  samples.isThere
    ? readdirSync(join(samples.path, folder))
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => `${folder}/${name}`)
    : [],
);

interface Row {
  readonly type?: string;
  readonly role?: string;
  readonly payload?: { readonly type?: string; readonly role?: string };
}

test.skipIf(!samples.isThere).each(FILES)("every row of %s is accounted for", async (file) => {
  const text = readFileSync(join(samples.path, file), "utf8");
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

test.skipIf(!samples.isThere)(
  "a real rollout has its prompt, answer, model and tokens",
  async () => {
    const file = FILES.find((each) => each.startsWith("codex/")) ?? "";
    const text = readFileSync(join(samples.path, file), "utf8");
    const root = tempDirectory();
    put(root, `${ID}.jsonl`, text);
    const { entries } = await readSession("codex", root, ID);
    const said = entries.filter(
      ({ kind, parts }) => kind === "message" && parts[0]?.type === "text",
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
  },
);

/** A zstd frame that stores up to 128 KiB as it is. */
function stored(text: string): Buffer {
  const bytes = Buffer.from(text);
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  const frame = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]), block, bytes]);
  assert.equal(decompressed(frame).toString(), text);
  return frame;
}

function row(text: string, role = "user"): string {
  const payload = { type: "message", role, content: [{ type: "input_text", text }] };
  return `${JSON.stringify({ type: "response_item", payload })}\n`;
}

function idsIn(root: string, onUnreadable?: (unreadable: Unreadable) => void): string[] {
  const options = onUnreadable ? { onUnreadable } : {};
  return [...eachLog(root, dialectNamed("codex").layout, options)].map(({ id }) => id).sort();
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

test("a fork has its parent, and the title of its own name", async () => {
  const root = tempDirectory();
  const parent = "01998190-0000-7f40-9309-dc4e48c5844a";
  const meta = (id: string, more: object) =>
    `${JSON.stringify({ type: "session_meta", payload: { id, cwd: `/work/${id}`, ...more } })}\n`;
  const named = { type: "thread_name_updated", thread_name: "Named" };
  const lines = [
    ...[meta(UUID, { forked_from_id: parent, git: { branch: "fix" } }), meta(parent, {})],
    ...[row("hello"), `${JSON.stringify({ type: "event_msg", payload: named })}\n`],
  ];
  put(root, `${ID}.jsonl`, lines.join(""));
  const summary = await storeAt("codex", root).summaries().summarise(ID);
  expect(summary).toMatchObject({
    ...{ parent, title: "Named", branch: "fix", project: `/work/${UUID}` },
  });
});

test("a checkpoint of Entire whose transcript is a rollout is read as one", async () => {
  const root = tempDirectory();
  const count = (total: number) => {
    const usage = { input_tokens: total, output_tokens: 1, total_tokens: total + 1 };
    const payload = { type: "token_count", info: { total_token_usage: usage } };
    return `${JSON.stringify({ type: "event_msg", payload })}\n`;
  };
  const context = row("<environment_context></environment_context>");
  const event = { type: "user_message", message: "List the files" };
  const lines = [
    ...[
      context,
      row("List the files"),
      `${JSON.stringify({ type: "event_msg", payload: event })}\n`,
    ],
    ...[row("Two.", "assistant"), count(5), count(5), count(9)],
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
    ...{ title: "List the files", turns: 1, inputTokens: 9 },
  });
  assert.equal(await notUnderstood(nodeHost, store.session("s1")), null);
});
