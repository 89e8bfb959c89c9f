/** Lines built under the lock: what their composer sees, and what happens to them. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { Gate } from "../../../test/support/gate.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { WRITER_KINDS } from "../../../test/support/writer-kinds.ts";
import { type ByteOffset, START, toByteOffset } from "../base/offset.ts";
import type { Companion, QueuedAppend, Turn } from "./companion.ts";
import type { LogWriter } from "./writer.ts";

const LOG = "log.jsonl";
const NOTHING = new Uint8Array(0);
const SHARED_KINDS = WRITER_KINDS.filter(([, { mode }]) => mode === "shared");

type Compose = (end: number) => Uint8Array;

/** Appends the lines of `compose`, in its turn; resolves to their start offset. */
async function composed(log: LogWriter, compose: Compose): Promise<ByteOffset> {
  let start = START;
  await log.inTurn(async (turn) => {
    start = turn.end;
    const lines = compose(start);
    if (lines.length > 0) turn.append(lines);
    await turn.settle();
  });
  return start;
}

/** A line that states its own offset. */
const placed: Compose = (end) => bytesOf(`{"at":${end}}\n`);

test.for(WRITER_KINDS)(
  "a composer gets the offset where its lines are written (%s)",
  async ([, kind]) => {
    const path = logHolding('{"n":0}\n');
    const log = await openWriter(path, kind);
    assert.equal(await composed(log, placed), 8);
    assert.equal(await composed(log, (end) => bytesOf(`{"at":${end}}\n{"too":1}\n`)), 17);
    assert.equal(await log.append(bytesOf("1")), 39);
    assert.equal(await composed(log, placed), 39);
    assert.equal(contentOf(path), '{"n":0}\n{"at":8}\n{"at":17}\n{"too":1}\n1\n{"at":39}\n');
    assert.equal(log.end, 49);
  },
);

test.for(WRITER_KINDS)(
  "composed and other appends land in the order of the calls, and each gets true offsets (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const asked: string[] = [];
    const work: Promise<ByteOffset>[] = [];
    const starts: Promise<void>[] = [];
    for (let n = 0; n < 60; n++) {
      const line = `{"n":${n},"pad":"${"x".repeat((n * 37) % 500)}"}`;
      asked.push(line);
      if (n % 3 === 0) work.push(log.append(bytesOf(line)));
      else if (n % 3 === 1) work.push(log.appendLines(bytesOf(`${line}\n`)));
      else {
        let seen = -1;
        const compose: Compose = (end) => {
          seen = end;
          return bytesOf(`${line}\n`);
        };
        const start = composed(log, compose);
        starts.push(start.then((at) => assert.equal(at, seen)));
        work.push(start.then((at) => (at + line.length + 1) as ByteOffset));
      }
    }
    const ends = await Promise.all(work);
    await Promise.all(starts);
    const content = contentOf(path);
    assert.equal(content, asked.map((line) => `${line}\n`).join(""));
    for (const [n, end] of ends.entries()) {
      const line = `${asked[n]}\n`;
      assert.equal(content.slice(end - line.length, end), line);
    }
  },
);

test.for(WRITER_KINDS)(
  "a composer is called once, and not before its turn (%s)",
  async ([, kind]) => {
    const log = await openWriter(newLogPath(), kind);
    const calls: number[] = [];
    const composer = (n: number): Compose => {
      return () => {
        calls.push(n);
        return bytesOf(`${n}\n`);
      };
    };
    await Promise.all([
      log.append(bytesOf("0")),
      composed(log, composer(1)),
      composed(log, composer(2)),
    ]);
    assert.deepEqual(calls, [1, 2]);
  },
);

test("with disk a composed append resolves after the sync that covers it", async () => {
  const disk = new WatchedFiles();
  const gate = new Gate();
  const log = await openWriter(newLogPath(), {}, disk.host);
  disk.before = ({ call, name }) => (call === "sync" && name === LOG ? gate.pass() : undefined);
  let isDone = false;
  const appended = composed(log, placed).then(() => {
    isDone = true;
  });
  await gate.reached;
  assert.equal(disk.made("write", LOG).length, 1);
  assert.equal(isDone, false);
  gate.open();
  await appended;
});

test.for(SHARED_KINDS)(
  "a composer sees the lines of other writers: the companion has caught up before (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    let caughtUpTo = -1;
    const companion: Companion = {
      async caughtUp(end) {
        await new Promise((resolve) => setImmediate(resolve));
        caughtUpTo = end;
      },
      appended(_, length, start) {
        caughtUpTo = start + length;
      },
      async madeDurable() {},
      close() {},
    };
    const ours = await openWriter(path, { ...kind, companion });
    const others = await openWriter(path, kind);
    for (let n = 0; n < 10; n++) {
      await others.append(bytesOf(`"other ${n}"`));
      const before = contentOf(path).length;
      const compose: Compose = (end) => {
        assert.equal(end, before);
        assert.equal(caughtUpTo, before);
        return placed(end);
      };
      assert.equal(await composed(ours, compose), before);
    }
  },
);

test.for(SHARED_KINDS)(
  "a composer never sees the torn tail that a killed writer left (%s)",
  async ([, kind]) => {
    const path = logHolding("1\n");
    const log = await openWriter(path, kind);
    appendFileSync(path, '{"torn');
    assert.equal(await composed(log, placed), 2);
    assert.equal(contentOf(path), '1\n{"at":2}\n');
    assert.equal(contentOf(`${path}.torn-0`), '{"torn');
  },
);

test.for(WRITER_KINDS)(
  "composed lines that the disk does not take whole are undone, and the log continues (%s)",
  async ([, kind]) => {
    const disk = new WatchedFiles();
    const path = logHolding("0\n");
    const log = await openWriter(path, kind, disk.host);
    for (let taken = 0; taken < 9; taken++) {
      disk.takes = () => taken;
      await refusal(composed(log, placed), "NO_SPACE");
      assert.equal(contentOf(path), "0\n", `${taken} bytes taken`);
    }
    disk.takes = ({ bytes }) => bytes;
    assert.equal(await composed(log, placed), 2);
    assert.equal(contentOf(path), '0\n{"at":2}\n');
  },
);

test.for(WRITER_KINDS)(
  "an exception of a composer reaches its caller unchanged, and nothing is written (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const thrown = new RangeError("mine");
    const all = [
      log.append(bytesOf("1")),
      composed(log, () => {
        throw thrown;
      }),
      composed(log, placed),
    ];
    const [, refused, after] = await Promise.allSettled(all);
    assert.ok(refused?.status === "rejected" && refused.reason === thrown);
    assert.equal(after?.status, "fulfilled");
    assert.equal(contentOf(path), '1\n{"at":2}\n');
  },
);

test.for(WRITER_KINDS)("the limits apply to composed lines (%s)", async ([, kind]) => {
  const path = newLogPath();
  const limits = { lineBytesMax: 4, batchBytesMax: 12 };
  const log = await openWriter(path, { ...kind, limits });
  const composing = (text: string) => composed(log, () => bytesOf(text));
  assert.equal(await composing("1234\n1234\n1\n"), 0);
  await refusal(composing("12345\n"), "LINE_TOO_LONG");
  await refusal(composing("1234\n1234\n12\n"), "BATCH_TOO_LARGE");
  await refusal(composing("1234"), "INVALID_LINE");
  await refusal(composing("1\0\n"), "INVALID_LINE");
  assert.equal(contentOf(path), "1234\n1234\n1\n");
});

test.for(WRITER_KINDS)("a composer that returns no lines writes nothing (%s)", async ([, kind]) => {
  const disk = new WatchedFiles();
  const path = logHolding("0\n");
  const log = await openWriter(path, kind, disk.host);
  assert.equal(await composed(log, () => NOTHING), 2);
  assert.deepEqual(disk.made("write", LOG), []);
  assert.equal(contentOf(path), "0\n");
});

test.for(WRITER_KINDS)(
  "work in its turn has the lock until it ends, and the next append waits (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const gate = new Gate();
    const work = log.inTurn(async (turn) => {
      turn.append(placed(turn.end));
      await turn.settle();
      await gate.pass();
    });
    const next = log.append(bytesOf("1"));
    await gate.reached;
    assert.equal(contentOf(path), '{"at":0}\n');
    await refusal(openWriter(path, { lockWaitMs: 0 }), "LOG_LOCKED");
    gate.open();
    await work;
    assert.equal(await next, 11);
  },
);

test("a sync that fails ends the writer, for composed appends too", async () => {
  const disk = new WatchedFiles();
  const log = await openWriter(newLogPath(), {}, disk.host);
  disk.before = ({ call, name }) => {
    if (call === "sync" && name === LOG) throw errno("EIO");
    return undefined;
  };
  await refusal(composed(log, placed), "LOG_WRITER_FAILED");
  await refusal(composed(log, placed), "LOG_WRITER_FAILED");
});

test.for(WRITER_KINDS)("a closed log composes nothing (%s)", async ([, kind]) => {
  const log = await openWriter(newLogPath(), kind);
  const last = composed(log, placed);
  await log.close();
  assert.equal(await last, 0);
  await refusal(
    composed(log, () => assert.fail("composed")),
    "LOG_CLOSED",
  );
});

/** A companion that writes one line per entry, and shares a turn among at most `sharing`. */
class Lines implements Companion {
  readonly turns: number[] = [];
  readonly sharing: number;
  constructor(sharing: number) {
    this.sharing = sharing;
  }
  share(waiting: Iterable<QueuedAppend>): number {
    return Math.min([...waiting].length, this.sharing);
  }
  async append(waiting: readonly QueuedAppend<string>[], turn: Turn): Promise<void> {
    this.turns.push(waiting.length);
    let lines = "";
    for (const each of waiting) {
      if (each.content === "refused") each.reject(new RangeError("mine"));
      else if (each.content === "all refused") throw new RangeError("all");
      else lines += `${each.content}\n`;
      each.end = toByteOffset(turn.end + lines.length);
    }
    if (lines !== "") turn.append(bytesOf(lines));
    await turn.settle();
  }
  async caughtUp() {}
  appended() {}
  async madeDurable() {}
  close() {}
}

test.for(WRITER_KINDS)(
  "waiting entries share turns as their companion decides, in order, and each gets its end offset (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const companion = new Lines(3);
    const log = await openWriter(path, { ...kind, companion });
    const entries = Array.from({ length: 8 }, (_, n) => `${n}`.repeat(n + 1));
    const ends = await Promise.all(entries.map((entry) => log.appendComposed(entry, 10)));
    const expected = entries.map((_, n) => entries.slice(0, n + 1).join("\n").length + 1);
    assert.deepEqual(ends, expected);
    assert.equal(contentOf(path), `${entries.join("\n")}\n`);
    assert.deepEqual(companion.turns, [1, 3, 3, 1]);
  },
);

test("a companion can refuse one waiting entry, or all that share a turn, with its own error", async () => {
  const path = newLogPath();
  const log = await openWriter(path, { companion: new Lines(2) });
  const entries = ["a", "refused", "b", "all refused", "c"];
  const results = await Promise.allSettled(entries.map((entry) => log.appendComposed(entry, 1)));
  const said = results.map((each) =>
    each.status === "fulfilled" ? each.value : each.reason.message,
  );
  assert.deepEqual(said, [2, "mine", 4, "all", "all"]);
  assert.equal(contentOf(path), "a\nb\n");
});

test("composed appends count against the queue's limit, unless one waits alone", async () => {
  const path = newLogPath();
  const options = { companion: new Lines(9), limits: { queueBytesMax: 100 } };
  const log = await openWriter(path, options);
  const alone = log.appendComposed("large", 1000);
  const { details } = await refusal(log.appendComposed("small", 1), "QUEUE_FULL");
  assert.deepEqual(details, { path, queuedBytes: 1000, bytesMax: 100 });
  await alone;
  await Promise.all([log.appendComposed("x", 60), log.appendComposed("y", 40)]);
  assert.equal(contentOf(path), "large\nx\ny\n");
});
