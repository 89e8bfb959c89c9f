import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Native } from "../../src/core/model/entry.ts";
import { readThreadMeta } from "../../src/dialects/rye/files/thread-files.ts";
import { TranscriptRenderer } from "../../src/doors/rye.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store } from "../../src/sessions/store/store.ts";
import {
  codes,
  findingsIn,
  findingsOf,
  repairIn,
  repairOf,
  sessionAt,
  summaries,
  WHOLE_THREAD,
  writeThread,
} from "../support/examining.ts";
import { RYE_THREADS } from "../support/rye-threads.ts";
import { tempDirectory } from "../support/temp-directory.ts";

class Thread {
  readonly project = tempDirectory();
  readonly id = "hello-1";
  readonly directory = join(this.project, ".ai/threads/hello-1");

  static async written(events: readonly Native[] = WHOLE_THREAD): Promise<Thread> {
    const thread = new Thread();
    await writeThread(thread.project, thread.id, events);
    return thread;
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), "utf8");
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(join(this.directory, name), content);
  }

  /** Changes thread.json as another program, or a crash, would leave it. */
  changeMeta(change: (meta: Record<string, unknown>) => object): void {
    this.write("thread.json", JSON.stringify(change(JSON.parse(this.read("thread.json")))));
  }

  async findings() {
    return findingsOf(await sessionAt(this.project, this.id));
  }

  async repair() {
    return repairOf(await sessionAt(this.project, this.id));
  }
}

test("a transcript.md that was cut anywhere is stale, and repair completes it", async () => {
  const thread = await Thread.written();
  const markdown = Buffer.from(thread.read("transcript.md"));
  for (let cut = 0; cut < markdown.length; cut += 7) {
    thread.write("transcript.md", markdown.subarray(0, cut));
    expect(await thread.findings(), `cut at ${cut}`).toMatchObject([
      { code: "DERIVED_STALE", offset: cut },
    ]);
  }
  const [step] = await thread.repair();
  assert.equal(step?.kind, "mended");
  assert.deepEqual(Buffer.from(thread.read("transcript.md")), markdown);
  const kept = readFileSync(join(thread.directory, "transcript.md.before-repair-0"));
  assert.deepEqual(kept, markdown.subarray(0, kept.length));
  assert.deepEqual(await thread.findings(), []);
});

test.each([
  ["with another letter", (text: string) => text.replace("Write", "write")],
  ["with more at its end", (text: string) => `${text}more`],
  ["of another thread", () => "# other\n"],
] as const)("a transcript.md %s is stale", async (_, change) => {
  const thread = await Thread.written();
  thread.write("transcript.md", change(thread.read("transcript.md")));
  assert.deepEqual(codes(await thread.findings()), ["DERIVED_STALE"]);
});

test("a missing transcript.md or thread.json is rebuilt from the log", async () => {
  const thread = await Thread.written();
  const meta = JSON.parse(thread.read("thread.json"));
  const markdown = thread.read("transcript.md");
  for (const name of ["transcript.md", "thread.json"]) rmSync(join(thread.directory, name));
  assert.deepEqual(summaries(await thread.findings()), [
    "DERIVED_MISSING transcript.md is missing",
    "DERIVED_MISSING thread.json is missing",
  ]);
  await thread.repair();
  assert.equal(thread.read("transcript.md"), markdown);
  assert.deepEqual(JSON.parse(thread.read("thread.json")), { ...meta, reconstructed: true });
  // A note: nothing is left to repair, but fields that only the file had are lost.
  expect(await thread.findings()).toMatchObject([{ code: "DERIVED_REBUILT", severity: "note" }]);
});

const FAILED: Native = { type: "thread_error", error_code: "x", detail: "y" };

test.each<[string, readonly Native[], string]>([
  ["completed and went on", [...WHOLE_THREAD, { type: "step_start" }], "running"],
  ["failed and went on", [...WHOLE_THREAD.slice(0, 2), FAILED, { type: "step_start" }], "running"],
  ["failed, went on and completed", [FAILED, ...WHOLE_THREAD], "completed"],
])(
  "the thread.json of a thread that %s is rebuilt from its last event",
  async (_, events, status) => {
    const thread = await Thread.written(events);
    rmSync(join(thread.directory, "thread.json"));
    await thread.repair();
    assert.deepEqual(codes(await thread.findings()), ["DERIVED_REBUILT"]);
    const made = JSON.parse(thread.read("thread.json"));
    assert.deepEqual([made.status, "error" in made], [status, false]);
  },
);

test("a thread without events, or with silent ones only, needs no derived file", async () => {
  const thread = await Thread.written([]);
  await writeThread(thread.project, thread.id, [{ type: "hook_triggered" }]);
  for (const name of ["transcript.md", "thread.json"]) {
    rmSync(join(thread.directory, name), { force: true });
  }
  thread.write("transcript.jsonl", "");
  assert.deepEqual(codes(await thread.findings()), []);
});

test.each([
  ["{", "not JSON"],
  ["[]", "no object"],
  ['{"thread_id":"hello-1"}', "no status"],
  ['{"thread_id":"hello-1","status":"completed","model":7}', "a model that is not a text"],
])("a thread.json that is %s (%s) is corrupt, renamed and rebuilt", async (text) => {
  const thread = await Thread.written();
  const expected = JSON.parse(thread.read("thread.json"));
  thread.write("thread.json", text);
  assert.deepEqual(summaries(await thread.findings()), ["DERIVED_STALE thread.json is corrupt"]);
  await thread.repair();
  assert.equal(thread.read("thread.json.before-repair-0"), text);
  assert.deepEqual(JSON.parse(thread.read("thread.json")), { ...expected, reconstructed: true });
});

test("a corrupt thread.json next to an empty log is renamed", async () => {
  const thread = await Thread.written();
  for (const name of ["transcript.jsonl", "transcript.md"]) thread.write(name, "");
  thread.write("thread.json", "{");
  expect(await thread.repair()).toMatchObject([
    { kind: "mended", did: "moved thread.json to thread.json.before-repair-0" },
    { kind: "mended", finding: { detail: "registry.db lists 1 that are gone" } },
  ]);
  assert.deepEqual(await thread.findings(), []);
});

test.each<[string, readonly Native[], string, string]>([
  ["running after its end", WHOLE_THREAD, "running", "completed"],
  ["paused after its end", WHOLE_THREAD, "paused", "completed"],
  [
    "completed though it failed",
    [...WHOLE_THREAD.slice(0, 2), { type: "thread_error", error_code: "x", detail: "y" }],
    "completed",
    "error",
  ],
  [
    "completed though it went on",
    [...WHOLE_THREAD, { type: "user_message", text: "more" }],
    "completed",
    "running",
  ],
])("a thread.json that says %s is stale in its status", async (_, events, wrong, right) => {
  const thread = await Thread.written(events);
  thread.changeMeta(({ error: _error, ...meta }) => ({ ...meta, status: wrong, own: { k: 1 } }));
  assert.deepEqual(summaries(await thread.findings()), [
    "DERIVED_STALE thread.json disagrees with its log in status",
  ]);
  await thread.repair();
  const mended = JSON.parse(thread.read("thread.json"));
  assert.equal(mended.status, right);
  assert.deepEqual(mended.own, { k: 1 });
  assert.equal("error" in mended, right === "error");
  assert.deepEqual(await thread.findings(), []);
});

test("a thread.json that contradicts a start or end event is stale, field by field", async () => {
  const thread = await Thread.written();
  thread.changeMeta((meta) => ({
    ...meta,
    thread_id: "other-2",
    model: "another",
    inputs: { a: 2 },
    cost: { turns: 1, tokens: 4, spend: 0.5 },
  }));
  assert.deepEqual(summaries(await thread.findings()), [
    "DERIVED_STALE thread.json disagrees with its log in thread_id, model, inputs, cost",
  ]);
  await thread.repair();
  expect(JSON.parse(thread.read("thread.json"))).toMatchObject({
    thread_id: "hello-1",
    model: "m",
    inputs: { a: 1 },
    cost: { tokens: 3 },
    status: "completed",
  });
  assert.deepEqual(await thread.findings(), []);
});

test.each<[string, (meta: Record<string, unknown>) => object]>([
  [
    "knows more",
    (meta) => ({ ...meta, outputs: { x: 1 }, own: true, cost: { ...costOf(meta), n: 1 } }),
  ],
  ["leaves fields out", ({ thread_id, status }) => ({ thread_id, status })],
  ["has a status of its own", (meta) => ({ ...meta, status: "cancelled" })],
  ["has other times", (meta) => ({ ...meta, created_at: "", updated_at: "2020" })],
])("a thread.json of another program that %s is not stale", async (_, change) => {
  const thread = await Thread.written();
  thread.changeMeta(change);
  assert.deepEqual(await thread.findings(), []);
});

function costOf(meta: Record<string, unknown>): object {
  return meta.cost as object;
}

test("a thread without an end event may have any status in thread.json", async () => {
  const thread = await Thread.written(WHOLE_THREAD.slice(0, 2));
  for (const status of ["running", "paused", "completed", "error"]) {
    thread.changeMeta((meta) => ({ ...meta, status }));
    assert.deepEqual(await thread.findings(), [], status);
  }
});

test("repair does not change a signed thread.json, however stale it is", async () => {
  const thread = await Thread.written();
  thread.changeMeta((meta) => ({ ...meta, status: "running", _signature: "rye:signed:…" }));
  const before = thread.read("thread.json");
  expect(await thread.findings()).toMatchObject([{ code: "DERIVED_STALE", mends: false }]);
  expect(await thread.repair()).toMatchObject([{ kind: "left", count: 1 }]);
  assert.equal(thread.read("thread.json"), before);
});

test("values nested very deep are compared without a stack overflow", async () => {
  const thread = await Thread.written();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const log = thread.read("transcript.jsonl").replace('"inputs":{"a":1}', `"inputs":{"a":${deep}}`);
  thread.write("transcript.jsonl", log);
  assert.deepEqual(summaries(await thread.findings()), [
    "DERIVED_STALE thread.json disagrees with its log in inputs",
  ]);
});

test("repair rebuilds the same as reading a thread without thread.json returns", async () => {
  const thread = await Thread.written();
  rmSync(join(thread.directory, "thread.json"));
  const expected = await readThreadMeta(nodeHost, thread.project, thread.id);
  await thread.repair();
  assert.deepEqual(JSON.parse(thread.read("thread.json")), expected);
});

test.each(RYE_THREADS)(
  "%s threads lack only what the original did not write",
  async (name, path) => {
    const project = tempDirectory();
    cpSync(path, join(project, ".ai/threads"), { recursive: true, mode: 0 });
    const counts = new Map<string, number>();
    for (const { code, detail } of await findingsIn(project)) {
      const name = code === "DERIVED_MISSING" ? `${code} ${detail}` : code;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    counts.delete("WRONG_MODE"); // As they were copied.
    assert.deepEqual(Object.fromEntries(counts), {
      "DERIVED_MISSING transcript.md is missing": name === "own" ? 5 : 36,
      "DERIVED_MISSING registry.db is missing": 1,
      // A runtime escalated in the middle of a call and never returned.
      DANGLING_CALL: 1,
    });
    await repairIn(project);
    assert.deepEqual(codes(await findingsIn(project)), ["DANGLING_CALL"]);
  },
);

const FENCED: readonly Native[] = [
  ...WHOLE_THREAD.slice(0, 3),
  { type: "tool_call_result", call_id: "c1", output: "```\ncode\n```" },
];
/** How the original's own writer begins a text. */
const ORIGINALS =
  "# hello\n\n**Thread ID:** `hello-1`\n**Model:** m\n**Provider:** p\n**Mode:** single\n" +
  "**Started:** 2026-02-09T04:03:50+00:00\n\n---\n\n### Turn 1\n\n";

test.each([
  ["in its document's fences", (text: string) => text.replaceAll("````", "```")],
  ["in the layout of its own writer", () => ORIGINALS],
])(
  "a transcript.md that the original wrote %s is neither stale nor replaced",
  async (_, change) => {
    const thread = await Thread.written(FENCED);
    const text = change(thread.read("transcript.md"));
    assert.notEqual(text, thread.read("transcript.md"));
    thread.write("transcript.md", text);
    assert.deepEqual(
      codes(await thread.findings()).filter((code) => /^DERIVED/.test(code)),
      [],
    );
    await writeThread(thread.project, thread.id, [{ type: "user_message", text: "more" }]);
    assert.equal(thread.read("transcript.md"), `${text}## User\n\nmore\n\n---\n\n`);
    assert.deepEqual(asideIn(thread), []);
  },
);

test("a thread with Python's numbers is neither stale nor replaced", async () => {
  const thread = new Thread();
  await writeThread(thread.project, thread.id, WHOLE_THREAD.slice(0, 3));
  const started = thread.read("transcript.md");
  const events = [
    '"type":"tool_call_start","tool":"t","input":{"id":12345678901234567890,"n":[1e16,30.0,-0.0]}',
    '"type":"step_finish","tokens":{"input_tokens":500.0,"output_tokens":1},"cost":{"spend":1e-5}',
    '"type":"thread_complete","cost":{"turns":2.0,"tokens":3778.0,"duration_seconds":30.0}',
  ];
  const lines = events.map((event) => `{"ts":"T","thread_id":"hello-1",${event}}\n`).join("");
  thread.write("transcript.jsonl", thread.read("transcript.jsonl") + lines);
  // As the document's Python prints them.
  const pythons = [
    '**Tool: t**\n\n**Input:**\n```json\n{\n  "id": 12345678901234567890,\n',
    '  "n": [\n    1e+16,\n    30.0,\n    -0.0\n  ]\n}\n```\n',
    "_Step: 500.0in / 1out · $0.0000_\n\n---\n\n",
    "---\n\n**Completed** · 2.0 turns · 3778.0 tokens · $0.0000 · 30.0s\n",
  ];
  const markdown = started + pythons.join("");
  thread.write("transcript.md", markdown);
  assert.deepEqual(
    (await thread.findings()).filter(({ path }) => path?.endsWith("transcript.md")),
    [],
  );
  const renderer = new TranscriptRenderer({ thinking: true });
  assert.equal(await renderer.render(thread.id, thread.project), markdown);
  await (await sessionOf(thread)).close();
  assert.equal(thread.read("transcript.md"), markdown);
  assert.deepEqual(asideIn(thread), []);
});

test("opening to append keeps a copy of a transcript.md with other content", async () => {
  const thread = await Thread.written();
  const whole = thread.read("transcript.md");
  const more = "## User\n\nmore\n\n---\n\n";
  thread.write("transcript.md", whole.replace("Write", "Wrote"));
  await writeThread(thread.project, thread.id, [{ type: "user_message", text: "more" }]);
  assert.equal(thread.read("transcript.md"), whole + more);
  assert.deepEqual(asideIn(thread), ["transcript.md.before-repair-0"]);
  assert.equal(thread.read("transcript.md.before-repair-0"), whole.replace("Write", "Wrote"));
});

test("a transcript.md that a crash cut short is repaired without a copy", async () => {
  const thread = await Thread.written();
  const whole = thread.read("transcript.md");
  for (const left of [whole.slice(0, -7), ""]) {
    thread.write("transcript.md", left);
    await (await sessionOf(thread)).close();
    assert.equal(thread.read("transcript.md"), whole);
  }
  assert.deepEqual(asideIn(thread), []);
});

test("notes at the end of a transcript.md are copied, and a warning names the copy", async () => {
  const thread = await Thread.written();
  const whole = thread.read("transcript.md");
  const noted = `${whole}\n> a note of mine\n`;
  thread.write("transcript.md", noted);
  const warnings: string[] = [];
  await (await sessionOf(thread, warnings)).close();
  assert.equal(thread.read("transcript.md"), whole);
  assert.deepEqual(asideIn(thread), ["transcript.md.before-repair-0"]);
  assert.equal(thread.read("transcript.md.before-repair-0"), noted);
  assert.match(warnings.join("\n"), /transcript\.md of hello-1 .* kept in transcript\.md\.before-/);
});

test("a transcript.md that Python continued after a line with NaN is copied", async () => {
  const thread = await Thread.written();
  const line = '{"ts":"t","type":"step_finish","thread_id":"hello-1","cost":{"spend":NaN}}\n';
  thread.write("transcript.jsonl", thread.read("transcript.jsonl") + line);
  const pythons = `${thread.read("transcript.md")}_Step: 0in / 0out · $nan_\n\n---\n\n`;
  thread.write("transcript.md", pythons);
  await writeThread(thread.project, thread.id, [{ type: "user_message", text: "more" }]);
  assert.deepEqual(asideIn(thread), ["transcript.md.before-repair-0"]);
  assert.equal(thread.read("transcript.md.before-repair-0"), pythons);
});

test("a corrupt thread.json is copied before the thread's next event replaces it", async () => {
  const thread = await Thread.written();
  const noted = `${thread.read("thread.json")}\n// a note of mine\n`;
  thread.write("thread.json", noted);
  await writeThread(thread.project, thread.id, [{ type: "user_message", text: "more" }]);
  assert.equal(JSON.parse(thread.read("thread.json")).thread_id, "hello-1");
  assert.deepEqual(asideIn(thread), ["thread.json.before-repair-0"]);
  assert.equal(thread.read("thread.json.before-repair-0"), noted);
});

function asideIn(thread: Thread): string[] {
  return readdirSync(thread.directory).filter((name) => name.includes("before-repair"));
}

/** The thread, opened to append. */
async function sessionOf(thread: Thread, warnings: string[] = []): Promise<Session> {
  const store = new Store(nodeHost, {
    dialect: "rye",
    root: thread.project,
    agent: "hello",
    onWarning: (warning) => warnings.push(warning),
  });
  const session = store.session(thread.id);
  await session.openToAppend();
  return session;
}
