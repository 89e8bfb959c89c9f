import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { onTestFinished, test } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import { bytesOf, logHolding, newLogPath, openWriter } from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { splitAfterLf } from "../../../test/support/tail-oracle.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import type { Host } from "../base/host.ts";
import { nodeHost } from "../base/node-host.ts";
import { toByteOffset } from "../base/offset.ts";
import { type FollowOptions, type LogLine, LogReader, type ReadOptions } from "./reader.ts";

type Rewound = { from: number; to: number };

test("a follower yields the existing lines, and then new ones as they come", async () => {
  const path = logHolding("1\n2\n");
  const { take } = follow(path);
  assert.deepEqual(await take(2), [1, 2]);
  const log = await openWriter(path);
  for (let n = 3; n < 20; n++) {
    const coming = take(1);
    await log.append(bytesOf(`${n}`));
    assert.deepEqual(await coming, [n]);
  }
});

test("a follower's lines carry offsets and numbers, as a reader's do", async () => {
  const path = logHolding('1\n"é"\n');
  const { lines } = follow(path);
  const places = [];
  for (let n = 0; n < 2; n++) places.push(placeOf(await lines.next()));
  appendFileSync(path, "3\n");
  places.push(placeOf(await lines.next()));

  assert.deepEqual(places, [
    { start: 0, end: 2, number: 0 },
    { start: 2, end: 7, number: 1 },
    { start: 7, end: 9, number: 2 },
  ]);
});

test("a follower may start at a line's end, and yields the lines after it", async () => {
  const path = logHolding("1\n2\n");
  const { lines } = follow(path, { from: toByteOffset(4) });
  appendFileSync(path, "3\n");
  assert.deepEqual(placeOf(await lines.next()), { start: 4, end: 6, number: null });
});

test("lines of another process arrive in order, none twice, across its kill -9 and restart", async () => {
  const path = logHolding("0\n");
  const { lines } = follow(path);
  const received: Buffer[] = [];
  const receiving = (async () => {
    for await (const { bytes } of lines) {
      received.push(Buffer.from(bytes));
      if (Buffer.from(bytes).toString() === '"last"') return;
    }
  })();
  for (const [writer, acks] of [
    [1, 30],
    [2, 60],
  ] as const) {
    const order = { path, writer, lines: 100_000, atOnce: 4, durability: "os" };
    const child = startChild("test/crash/writer-child.ts", JSON.stringify(order));
    child.say("go");
    for (let seen = 0; seen < acks; ) {
      const line = await child.line();
      assert.notEqual(line, null, "the writer ended before it was killed");
      if (line?.startsWith("ack")) seen++;
    }
    await child.kill();
  }
  const log = await openWriter(path);
  await log.append(bytesOf('"last"'));
  await receiving;

  const all = splitAfterLf(readFileSync(path)).map((line) => line.subarray(0, -1).toString());
  assert.deepEqual(received.map(String), all);
  assert.ok(all.length >= 92);
});

test("a line without its LF is not yielded before it has it", async () => {
  const path = logHolding("1\n");
  const disk = new WatchedFiles();
  const { take } = follow(path, {}, {}, disk.host);
  assert.deepEqual(await take(1), [1]);
  const coming = take(1);
  for (const part of ['{"a', '":"é"}']) {
    // It has looked twice: at least once after the part was written.
    const looked = disk.next(({ call, name }) => call === "open" && name === "log.jsonl", 2);
    appendFileSync(path, part);
    await looked;
  }
  appendFileSync(path, "\n");
  assert.deepEqual(await coming, [{ a: "é" }]);
});

test("a torn tail that is cut when the writer returns was never yielded", async () => {
  const path = logHolding('1\n{"torn":');
  const { take } = follow(path);
  assert.deepEqual(await take(1), [1]);
  const coming = take(1);
  const log = await openWriter(path);
  await log.append(bytesOf("2"));
  assert.deepEqual(await coming, [2]);
});

test("a follower without directory watches finds new lines too", async () => {
  const path = logHolding("1\n");
  const disk = new WatchedFiles();
  disk.hasWatches = false;
  const { take } = follow(path, {}, {}, disk.host);
  assert.deepEqual(await take(1), [1]);
  const coming = take(1);
  appendFileSync(path, "2\n");
  assert.deepEqual(await coming, [2]);
});

test("an aborted follower throws the signal's reason, and leaves nothing open", async () => {
  const path = logHolding("1\n2\n");
  const reason = new Error("enough");
  const stop = new AbortController();
  const { lines, take } = follow(path, {}, { signal: stop.signal });
  await take(2);
  const waiting = lines.next();
  stop.abort(reason);
  await assert.rejects(waiting, reason);

  const early = new LogReader(nodeHost, path, { signal: AbortSignal.abort(reason) }).follow();
  await assert.rejects(early.next(), reason);
  for await (const _ of new LogReader(nodeHost, path).follow()) break;
  await refusal(new LogReader(nodeHost, `${path}.missing`).follow().next(), "LOG_NOT_FOUND");
  assert.deepEqual(openDescriptorsBelow(dirname(path)), []);
});

test("yielded lines that are undone, with nothing in their place, are reported", async () => {
  const path = logHolding("1\n2\n3\n");
  const { take, rewound } = followRewinding(path);
  await take(3);
  const coming = take(1);
  const told = rewound();
  truncateSync(path, 2);
  assert.deepEqual(await told, { from: 6, to: 2 });

  appendFileSync(path, "9\n");
  assert.deepEqual(await coming, [9]);
});

test("yielded lines that are replaced by others as long are reported, and the others yielded", async () => {
  for (const [at, others, to] of [
    [4, "9\n", 4],
    [2, "8\n9\n", 2],
    [0, "7\n8\n9\n", 0],
  ] as const) {
    const path = logHolding("1\n2\n3\n");
    const { take, rewound } = followRewinding(path);
    await take(3);
    const told = rewound();
    const coming = take(others.length / 2);
    overwrite(path, at, others);
    assert.deepEqual(await told, { from: 6, to });
    assert.deepEqual(await coming, [7, 8, 9].slice(-others.length / 2));
  }
});

test("yielded lines that are replaced by longer ones are reported, and those yielded", async () => {
  const path = logHolding("1\n2\n3\n");
  const { lines, take, rewound } = followRewinding(path);
  await take(3);
  const told = rewound();
  const coming = lines.next();
  overwrite(path, 2, '"longer than before"\n');
  assert.deepEqual(await told, { from: 6, to: 2 });
  assert.deepEqual(placeOf(await coming), { start: 2, end: 23, number: 1 });
});

test("by default, a follower whose lines were undone throws", async () => {
  for (const change of [
    (path: string) => truncateSync(path, 2),
    (path: string) => overwrite(path, 2, "8\n9\n"),
    (path: string) => overwrite(path, 2, '"longer"\n'),
  ]) {
    const path = logHolding("1\n2\n3\n");
    const { lines, take } = follow(path);
    await take(3);
    const coming = lines.next();
    change(path);
    const { details } = await refusal(coming, "LOG_REWOUND");
    assert.deepEqual(details, { path, from: 6, to: 2 });
    assert.deepEqual(openDescriptorsBelow(dirname(path)), []);
  }
});

test("a follower that began at the end of lines that are then undone continues at the new end", async () => {
  // It yielded none of them, but where it began is now past the end, or inside another line.
  const path = logHolding("1\n2\n3\n");
  const { lines, rewound, timesRewound } = followRewinding(path, { from: toByteOffset(6) });
  const coming = lines.next();
  const told = rewound();
  truncateSync(path, 2);
  assert.deepEqual(await told, { from: 6, to: 2 });

  appendFileSync(path, '{"longer":"line"}\n');
  assert.deepEqual(placeOf(await coming), { start: 2, end: 20, number: null });
  assert.equal(timesRewound(), 1);
});

test("a follower that began at the end of a log that is then replaced starts over", async () => {
  const path = logHolding("1\n2\n");
  const { take, rewound, timesRewound } = followRewinding(path, { from: toByteOffset(4) });
  const coming = take(1);
  const told = rewound();
  appendFileSync(path, "3\n");
  assert.deepEqual(await coming, [3]);
  const others = take(3);
  writeFileSync(`${path}.new`, "10\n20\n30\n");
  renameSync(`${path}.new`, path);
  assert.deepEqual(await told, { from: 6, to: 0 });
  assert.deepEqual(await others, [10, 20, 30]);
  assert.equal(timesRewound(), 1);
});

test("a follower can go back some lines in a long log, and otherwise starts over", async () => {
  const path = logHolding(Array.from({ length: 5000 }, (_, n) => `${1000 + n}\n`).join(""));
  const { take, rewound } = followRewinding(path);
  await take(5000);
  let told = rewound();
  let coming = take(1);
  const instead = "x".repeat(10 * 5 - 3);
  overwrite(path, 4990 * 5, `"${instead}"\n`);
  assert.deepEqual(await told, { from: 5000 * 5, to: 4990 * 5 });
  assert.deepEqual(await coming, [instead]);

  told = rewound();
  coming = take(2);
  writeFileSync(path, "1\n2\n");
  assert.equal((await told).to, 0);
  assert.deepEqual(await coming, [1, 2]);
});

test("a follower that skips bad lines reports each of them once", async () => {
  const path = logHolding("1\nbad\n");
  const disk = new WatchedFiles();
  const bad: (number | null)[] = [];
  const onBadLine: ReadOptions["onBadLine"] = ({ line }) => bad.push(line);
  const { reader, take } = follow(path, {}, { onBadLine }, disk.host);
  assert.deepEqual(await take(1), [1]);
  const coming = take(2);
  // It wakes for half a line, and reads the bad line before it again.
  const looked = disk.next(({ call, name }) => call === "open" && name === "log.jsonl", 2);
  appendFileSync(path, '{"a');
  await looked;
  appendFileSync(path, '":2}\nworse\n');
  appendFileSync(path, "3\n");
  assert.deepEqual(await coming, [{ a: 2 }, 3]);

  assert.deepEqual(bad, [2, 4]);
  assert.equal(reader.report.badLines, 2);
  assert.equal(reader.report.lines, 3);
});

test("a bad line ends a follower that does not skip them", async () => {
  const path = logHolding("1\n");
  const { lines, take } = follow(path);
  await take(1);
  const coming = lines.next();
  appendFileSync(path, "bad\n");
  const { details } = await refusal(coming, "BAD_LINE");
  assert.deepEqual(details, { path, line: 2, offset: 2, reason: "not JSON" });
});

test("a log that is empty, or new, is followed from its first line", async () => {
  const path = newLogPath();
  const log = await openWriter(path);
  const { take } = follow(path);
  const coming = take(2);
  await log.append(bytesOf("1"));
  await log.append(bytesOf("2"));
  assert.deepEqual(await coming, [1, 2]);
});

function follow(
  path: string,
  options: FollowOptions = {},
  readOptions: ReadOptions = {},
  host: Host = nodeHost,
) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const reader = new LogReader(host, path, { signal: stop.signal, ...readOptions });
  const lines = reader.follow(options);
  const take = async (count: number): Promise<unknown[]> => {
    const values: unknown[] = [];
    while (values.length < count) {
      const next = await lines.next();
      assert.ok(!next.done);
      values.push(next.value.value);
    }
    return values;
  };
  return { reader, lines, take };
}

/** A follower that continues after lines were undone, and records each time. */
function followRewinding(path: string, options: FollowOptions = {}) {
  let times = 0;
  let tell: (rewound: Rewound) => void = () => {};
  const onRewound = (rewound: Rewound) => {
    times++;
    tell(rewound);
  };
  return {
    ...follow(path, { ...options, onRewound }),
    timesRewound: () => times,
    rewound: () =>
      new Promise<Rewound>((resolve) => {
        tell = resolve;
      }),
  };
}

function placeOf(next: IteratorResult<LogLine>) {
  assert.ok(!next.done);
  const { start, end, number } = next.value;
  return { start, end, number };
}

/** Writes `bytes` in place in one call, so that no reader sees the file without them. */
function overwrite(path: string, at: number, bytes: string): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, bytes, at);
  closeSync(descriptor);
}
