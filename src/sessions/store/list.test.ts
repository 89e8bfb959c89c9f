import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { SESSION_SORTS } from "../../dialects/session-row.ts";
import { type ListedStore, listLines, summaryOf, unclosedJson } from "./list.ts";
import { Store } from "./store.ts";
import type { SessionSummary } from "./store-api.ts";

const TS = "2026-02-09T04:03:50.365000+00:00";

class Stores {
  readonly root = tempDirectory();
  readonly #catalogPath = join(tempDirectory(), "catalog.db");

  put(path: string, ...lines: readonly object[]): string {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return file;
  }

  putThread(id: string, ...types: readonly string[]): string {
    const events = types.map((type) => ({ ts: TS, type, thread_id: id, directive: "d" }));
    return this.put(`.ai/threads/${id}/transcript.jsonl`, ...events);
  }

  putStatus(id: string, status: string, parent: string | null = null): void {
    const meta = { thread_id: id, directive: "d", status, parent_thread_id: parent };
    this.put(`.ai/threads/${id}/thread.json`, meta);
  }

  /** With `mayRead` false, asking for the sessions' summaries fails the test. */
  listed(dialect: string, mayRead = true): ListedStore {
    const { root } = this;
    const catalogPath = this.#catalogPath;
    const onWarning = (warning: string) => assert.fail(warning);
    const store = new Store(nodeHost, { dialect, root, catalogPath, onWarning });
    const summaries = async () => (mayRead ? store.summaries() : assert.fail("asked to read"));
    return { dialect, root, catalogPath, summaries, onWarning };
  }

  async statuses(mayRead = true): Promise<Record<string, string | null>> {
    const lines = await listLines(this.listed("rye", mayRead), { sort: "id" });
    return Object.fromEntries(lines.map((line) => [line.id, summaryOf(line).status]));
  }
}

test("a listed session's line is the JSON of its summary, whether just read or cached", async () => {
  // Method: sessions of HomeAgent and Entire, whose ids may be nearly any name, with any text.
  const name = fc
    .oneof(
      fc.constantFrom('"', "a b", "é😀", "\u202e", "a'b", "x\u2028y", ",}", "null"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    )
    // No path holds `..`, not even where an id that ends in a dot meets `.jsonl`.
    .filter((text) => !/[/\0\\]|\.\.|\.$/.test(text));
  const session = fc.tuple(name, fc.string({ unit: "binary", maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(fc.array(session, { maxLength: 4 }), async (sessions) => {
      const stores = new Stores();
      for (const [id, content] of sessions) {
        const turn = { turnId: "1", role: "user", ts: 1_770_609_830_365, content };
        stores.put(`agents/a/sessions/${id}.jsonl`, turn);
        stores.put(`.entire/metadata/${id}/full.jsonl`, { type: "user", message: { content } });
      }
      for (const dialect of ["homeagent", "entire"] as const) {
        const read = await listLines(stores.listed(dialect), { sort: "updated" });
        const kept = await listLines(stores.listed(dialect, false), { sort: "updated" });
        assert.deepEqual(kept.map(summaryOf), read.map(summaryOf));
        for (const line of [...read, ...kept]) {
          assert.equal(`${unclosedJson(line)}}`, JSON.stringify(summaryOf(line)));
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("a session's line is the same when just read and when cached, in every sort order", async () => {
  for (const sort of SESSION_SORTS) {
    const stores = new Stores();
    stores.putThread("ended-1", "thread_start", "assistant_text", "thread_complete");
    stores.putThread("without-times-1");
    const read = await listLines(stores.listed("rye"), { sort });
    assert.deepEqual(await listLines(stores.listed("rye"), { sort }), read, sort);
    assert.equal(read.length, 2);
  }
});

test("a listing of the store agrees with its lines, and has each log's path", async () => {
  const stores = new Stores();
  const path = stores.putThread("deep/er/ended-1", "thread_start", "thread_complete");
  const listed = stores.listed("rye");
  const { dialect, root, catalogPath, onWarning } = listed;
  const store = new Store(nodeHost, { dialect, root, catalogPath, onWarning });
  const summaries: SessionSummary[] = await store.list();
  const lines = await listLines(listed, { sort: "id" });

  assert.deepEqual(summaries, lines.map(summaryOf));
  assert.deepEqual(
    summaries.map(({ id, dialect, root, path }) => ({ id, dialect, root, path })),
    [{ id: "deep/er/ended-1", dialect: "rye", root: stores.root, path }],
  );
});

test("while nothing changes, listing reads no session; each change is noticed (LS1)", async () => {
  const stores = new Stores();
  const log = stores.putThread("a-1", "thread_start", "thread_complete");
  stores.putThread("b-1", "thread_start", "thread_error");
  assert.deepEqual(await stores.statuses(), { "a-1": "completed", "b-1": "error" });
  assert.deepEqual(await stores.statuses(false), { "a-1": "completed", "b-1": "error" });

  const line = { ts: TS, thread_id: "a-1", directive: "d" };
  appendFileSync(log, `${JSON.stringify({ ...line, type: "user_message", text: "more" })}\n`);
  assert.deepEqual(await stores.statuses(), { "a-1": null, "b-1": "error" });
  appendFileSync(log, `${JSON.stringify({ ...line, type: "thread_complete" })}\n`);
  stores.putThread("a-1/inside-1", "thread_complete");
  const more = { "a-1": "completed", "a-1/inside-1": "completed", "b-1": "error" };
  assert.deepEqual(await stores.statuses(), more);
  assert.deepEqual(await stores.statuses(false), more);
});

test("a changed thread.json updates a thread's status in the list, even if its log is unchanged", async () => {
  const stores = new Stores();
  stores.putThread("a-1", "thread_start");
  assert.deepEqual(await stores.statuses(), { "a-1": null });
  for (const status of ["running", "paused", "running"]) {
    stores.putStatus("a-1", status, `parent-of-${status}`);
    const [line] = await listLines(stores.listed("rye"), { sort: "id" });
    const row = line ? summaryOf(line) : assert.fail();
    assert.deepEqual([row.status, row.parent], [status, `parent-of-${status}`]);
  }
});

test("a thread whose thread.json cannot be read is still listed, with a warning", async () => {
  const stores = new Stores();
  stores.putThread("a-1", "thread_start");
  stores.putThread("b-1", "thread_start", "thread_complete");
  stores.putStatus("a-1", "running");
  assert.deepEqual(await stores.statuses(), { "a-1": "running", "b-1": "completed" });
  const meta = join(stores.root, ".ai/threads/a-1/thread.json");
  rmSync(meta);
  symlinkSync("nowhere", meta);
  const warnings: string[] = [];
  const listed = { ...stores.listed("rye"), onWarning: (told: string) => warnings.push(told) };
  const ids = (await listLines(listed, { sort: "id" })).map(({ id }) => id);

  assert.deepEqual(ids.sort(), ["a-1", "b-1"]);
  expect(warnings).toEqual([expect.stringMatching(/^1 of 2 sessions could not be read.*a-1/)]);
});

test("a listing has each session's duration and its parent session", async () => {
  const stores = new Stores();
  const at = (ts: string) => ({ ts, type: "user_message", thread_id: "d-2", directive: "d" });
  const times = ["2026-02-09T04:00:00+00:00", "2026-02-09T05:30:00+01:00", "2026-02-09T04:00:10Z"];
  stores.put(".ai/threads/d-2/transcript.jsonl", ...times.map(at));
  const meta = { thread_id: "d-2", directive: "d", status: "completed", parent_thread_id: "d-1" };
  stores.put(".ai/threads/d-2/thread.json", meta);
  stores.putThread("d-1", "user_message");
  const [first, second] = await listLines(stores.listed("rye"), { sort: "id" });
  const told = [first, second].map((line) => {
    const { id, durationMs, parent } = line ? summaryOf(line) : assert.fail();
    return [id, durationMs, parent];
  });
  assert.deepEqual(told.sort(), [
    ["d-1", 0, null],
    ["d-2", 10_000, "d-1"],
  ]);
});
