/** Sessions whose lines are completed under the lock: order, groups, failures, other writers. */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { assertChain, type EntireRow, rowsAt } from "../../../test/support/entire-rows.ts";
import { ID, LOG, MIB, opened, says } from "../../../test/support/entire-store.ts";
import { Gate } from "../../../test/support/gate.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WRITER_KINDS } from "../../../test/support/writer-kinds.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";

function textsOf(rows: readonly EntireRow[]): unknown[] {
  return rows.map(({ message }) => message.content);
}

/** A log that ends in LF. */
function hasLog(root: string, content: string): string {
  const path = join(root, ".entire/metadata", ID, LOG);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

test.for(WRITER_KINDS)(
  "entries are written in call order, and each caller gets its own end offset (%s)",
  async ([, kind]) => {
    const { session, rows } = opened(kind);
    const texts = Array.from({ length: 50 }, (_, n) => `${n} ${"x".repeat((n * 97) % 700)}`);
    const ends = await Promise.all(texts.map((text) => says(session, text)));
    assert.deepEqual(textsOf(rows()), texts);
    assertChain(rows());
    const bytes = readFileSync(session.path);
    for (const [n, end] of ends.entries()) {
      const start = n === 0 ? 0 : (ends[n - 1] ?? 0);
      const row = JSON.parse(bytes.toString("utf8", start, end)) as EntireRow;
      assert.equal(row.message.content, texts[n]);
    }
  },
);

test("waiting entries share one write and one sync (S1-S2)", async () => {
  const { disk, session, rows } = opened();
  const gate = new Gate();
  await says(session, "the first opens the log");
  disk.calls.length = 0;
  disk.before = ({ call, name }) => (call === "sync" && name === LOG ? gate.pass() : undefined);
  const all = [says(session, "in flight")];
  await gate.reached;
  for (let n = 0; n < 100; n++) all.push(says(session, `waits ${n}`));
  gate.open();
  await Promise.all(all);
  assert.equal(disk.made("write", LOG).length, 2);
  assert.equal(disk.made("sync", LOG).length, 2);
  assertChain(rows());
});

test("an append costs one write, one sync and no read, however long the session is (S1-S2)", async () => {
  const { disk, session } = opened();
  for (let n = 0; n < 30; n++) {
    await says(session, `turn ${n}`);
    disk.calls.length = n === 0 ? 0 : disk.calls.length;
  }
  const calls = disk.calls.filter(({ name }) => name === LOG).map(({ call }) => call);
  assert.deepEqual(calls, Array(29).fill(["write", "sync"]).flat());
});

test.for(WRITER_KINDS)(
  "entries that do not fit on the disk are refused, and the chain continues without them (%s)",
  async ([, kind]) => {
    const { disk, session, rows } = opened(kind);
    await says(session, "first");
    for (let taken = 0; taken < 40; taken += 13) {
      disk.takes = ({ bytes, name }) => (name === LOG ? taken : bytes);
      const refused = [1, 2, 3].map((n) => refusal(says(session, `refused ${n}`), "NO_SPACE"));
      await Promise.all(refused);
      disk.takes = ({ bytes }) => bytes;
      await says(session, `after ${taken}`);
    }
    assertChain(rows());
    assert.deepEqual(textsOf(rows()), ["first", "after 0", "after 13", "after 26", "after 39"]);
  },
);

test("entries prepared after refused ones are linked to the last entry that was written", async () => {
  const { disk, session, rows } = opened({ durability: "os" });
  await says(session, "first");
  // Two of these fill a write; the third was linked to a refused one.
  const large = "x".repeat(7 * MIB);
  let writes = 0;
  disk.takes = ({ bytes, name }) => (name === LOG && ++writes === 2 ? 5 : bytes);
  const results = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => says(session, large)));
  const isRefused = results.map(({ status }) => status === "rejected");
  assert.equal(isRefused.filter(Boolean).length, 2);
  assert.equal(isRefused.lastIndexOf(true), isRefused.indexOf(true) + 1);
  assert.equal(isRefused.at(-1), false);
  await says(session, "last");
  assertChain(rows());
  assert.equal(rows().length, 6);
});

test.for(["disk", "os"] as const)(
  "two writers that take turns, or write at once, make one chain (%s)",
  async (durability) => {
    const root = tempDirectory();
    const [a, b] = [0, 1].map(() => opened({ root, durability, mode: "shared" }).session);
    assert.ok(a && b);
    for (let n = 0; n < 10; n++) {
      await says(a, `a ${n}`);
      await says(b, `b ${n}`);
    }
    const work = Array.from({ length: 40 }, (_, n) => says(n % 2 === 0 ? a : b, `at once ${n}`));
    await Promise.all(work);
    const rows = rowsAt(a.path);
    assert.equal(rows.length, 60);
    assertChain(rows);
  },
);

test.for(["disk", "os"] as const)(
  "several processes in shared mode make one chain without forks or gaps (%s)",
  async (durability) => {
    const root = tempDirectory();
    const children = ["a", "b", "c"].map((name) => {
      const order = { root, id: ID, name, rows: 60, mode: "shared", durability, atOnce: 4 };
      return startChild("test/doors/entire-child.ts", JSON.stringify(order));
    });
    for (const child of children) assert.equal(await child.exitCode(), 0);
    const path = join(root, ".entire/metadata", ID, LOG);
    const rows = rowsAt(path);
    assertChain(rows);
    for (const name of ["a", "b", "c"]) {
      const own = rows.filter((row) => row.name === name).map(({ n }) => n);
      assert.deepEqual(
        own,
        Array.from({ length: 60 }, (_, n) => n),
        name,
      );
    }
    const prompt = readFileSync(join(dirname(path), "prompt.txt"), "utf8");
    const [first] = rows.filter(({ type }) => type === "user");
    assert.equal(prompt, first?.message.content);
    assert.match(readFileSync(join(dirname(path), "context.md"), "utf8"), /^# Session Context\n/);
  },
);

test("a session continues after the last row that has a uuid, whichever program wrote it", async () => {
  const named = (uuid: unknown) => `${JSON.stringify({ type: "user", uuid })}\n`;
  const nameless = '{"type":"file-history-snapshot"}\nno json\n[1]\n\n{"type":"user","uuid":7}\n';
  const endings: readonly (readonly [string, string | null])[] = [
    ["", null],
    [nameless, null],
    [named("u-1"), "u-1"],
    [named("u-1") + named("u-2") + nameless, "u-2"],
    [named("u-1") + named("") + named(null) + named("x".repeat(201)), "u-1"],
    [named("u-1") + named("u-2").trimEnd(), "u-2"],
    [`${named("u-1")}{"torn`, "u-1"],
  ];
  for (const [content, expected] of endings) {
    const root = tempDirectory();
    const path = hasLog(root, content);
    const { session } = opened({ root });
    await says(session, "on we go");
    const last = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
    assert.equal((JSON.parse(last) as EntireRow).parentUuid, expected, content);
  }
});

test("in shared mode another program's rows are seen, and only new bytes are read", async () => {
  const { disk, session } = opened({ mode: "shared" });
  await says(session, "x".repeat(2 * MIB));
  for (const [n, foreign] of ['{"uuid":"f-1"}\n', "{}\n", '{"uuid":"f-2"}\n{}\nbad\n'].entries()) {
    const before = readFileSync(session.path).length;
    appendFileSync(session.path, foreign);
    disk.calls.length = 0;
    await says(session, `after ${n}`);
    const reads = disk.calls.filter(({ call, name }) => call === "read" && name === LOG);
    const first = Math.min(...reads.map(({ at }) => at));
    assert.ok(first > before - MIB, "known bytes were read again");
  }
  const parents = readFileSync(session.path, "utf8")
    .split("\n")
    .filter((line) => line.includes('"after '))
    .map((line) => (JSON.parse(line) as EntireRow).parentUuid);
  assert.deepEqual([parents[0], parents[2]], ["f-1", "f-2"]);
  assert.match(parents[1] ?? "", /^[0-9a-f-]{36}$/);
});

test("a log whose end cannot be read refuses appends instead of starting a new chain", async () => {
  const { disk, session } = opened({ mode: "shared" });
  await says(session, "first");
  appendFileSync(session.path, '{"type":"user","uuid":"f-1"}\n');
  const before = readFileSync(session.path, "utf8");
  let reads = 0;
  disk.before = ({ call, name }) => {
    // The repair can read the tail; the search for a name fails.
    if (call === "open" && name === LOG && ++reads >= 1) throw errno("EIO");
    return undefined;
  };
  await refusal(says(session, "refused"), "IO_ERROR");
  assert.equal(readFileSync(session.path, "utf8"), before);
});

test("the queue is bounded: one entry more is refused, and the others are written", async () => {
  const { disk, session, rows } = opened({ durability: "disk" });
  await says(session, "first");
  const gate = new Gate();
  disk.before = ({ call, name }) => (call === "sync" && name === LOG ? gate.pass() : undefined);
  const work = [says(session, "in flight")];
  await gate.reached;
  const large = "x".repeat(7 * MIB);
  const fit = Math.floor(LOG_LIMITS.queueBytesMax / (7 * MIB));
  for (let n = 0; n < fit - 1; n++) work.push(says(session, large));
  const results = [says(session, large), says(session, large)].map((each) =>
    each.then(
      () => "",
      (error) => error.code,
    ),
  );
  gate.open();
  await Promise.all(work);
  assert.ok((await Promise.all(results)).includes("QUEUE_FULL"));
  assertChain(rows());
});

test("close waits for everything that was accepted", async () => {
  const { session, rows } = opened();
  const work = Array.from({ length: 30 }, (_, n) => says(session, `turn ${n}`));
  await work[0];
  await session.close();
  await Promise.all(work);
  assert.equal(rows().length, 30);
  await refusal(says(session, "too late"), "LOG_CLOSED");
});

test("an end entry writes context.md at once, and the session may continue", async () => {
  const { session } = opened();
  const context = join(dirname(session.path), "context.md");
  const call = { type: "tool_call", callId: "t", tool: "bash", input: { command: "ls" } } as const;
  await session.append({ kind: "message", role: "assistant", parts: [call] });
  assert.equal(existsSync(context), false);
  await session.append({ kind: "end" });
  assert.match(readFileSync(context, "utf8"), /- \*\*bash\*\*: ls\n$/);
  await session.append({ kind: "message", role: "assistant", parts: [{ ...call, tool: "more" }] });
  await session.close();
  assert.match(readFileSync(context, "utf8"), /- \*\*bash\*\*: ls\n- \*\*more\*\*: ls\n$/);
});

test("a derived file that cannot be written causes a warning, and no row is lost", async () => {
  const { disk, session, rows, warnings } = opened();
  disk.before = ({ call, name }) => {
    if (call === "rename" || (call === "open" && name.endsWith(".tmp"))) throw errno("EACCES");
    return undefined;
  };
  await says(session, "hi");
  await session.close();
  assert.equal(rows().length, 1);
  assert.deepEqual(
    warnings.map((warning) => warning.split(" ")[0]),
    ["prompt.txt", "context.md"],
  );
});
