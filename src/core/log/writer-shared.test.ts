/** Writers that share a log. Here in one process; test/crash/shared.test.ts has several. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { Gate, isPending } from "../../../test/support/gate.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import type { Durability } from "./log-options.ts";

const DURABILITIES: readonly Durability[] = ["disk", "os"];
const LOG = "log.jsonl";

test.for(DURABILITIES)(
  "two writers of one log interleave, each in its own order, and each gets true offsets (%s)",
  async (durability) => {
    const path = newLogPath();
    const writers = [
      await openWriter(path, { durability, mode: "shared" }),
      await openWriter(path, { durability, mode: "shared" }),
    ];
    const appends = writers.flatMap((log, writer) =>
      Array.from({ length: 40 }, async (_, n) => {
        const line = `{"writer":${writer},"n":${n},"pad":"${"x".repeat(n * 29)}"}`;
        return { line, end: await log.append(bytesOf(line)) };
      }),
    );
    const done = await Promise.all(appends);

    const content = contentOf(path);
    assert.equal(
      content.length,
      done.reduce((sum, { line }) => sum + line.length + 1, 0),
    );
    for (const { line, end } of done) {
      assert.equal(content.slice(end - line.length - 1, end), `${line}\n`);
    }
    for (const writer of [0, 1]) {
      const ends = done.filter((_, n) => Math.floor(n / 40) === writer).map(({ end }) => end);
      assert.deepEqual(
        ends,
        ends.toSorted((a, b) => a - b),
      );
    }
  },
);

test.for(DURABILITIES)(
  "writers that take turns line by line continue after each other's lines (%s)",
  async (durability) => {
    const path = newLogPath();
    const a = await openWriter(path, { durability, mode: "shared" });
    const b = await openWriter(path, { durability, mode: "shared" });
    for (let n = 0; n < 10; n++) {
      assert.equal(await a.append(bytesOf('"a"')), 8 * n + 4);
      assert.equal(await b.append(bytesOf('"b"')), 8 * n + 8);
    }
    assert.equal(contentOf(path), '"a"\n"b"\n'.repeat(10));
  },
);

test.for(DURABILITIES)(
  "the torn tail of a killed writer is copied aside by another writer's next append (%s)",
  async (durability) => {
    const path = logHolding("1\n");
    const log = await openWriter(path, { durability, mode: "shared" });
    for (const [n, torn] of ['{"torn', "\0\0\0", '"é'].entries()) {
      appendFileSync(path, torn);
      const before = contentOf(path).length - torn.length;
      assert.equal(await log.append(bytesOf("2")), before + 2);
      assert.equal(contentOf(`${path}.torn-${n}`), torn);
    }
    assert.equal(contentOf(path), "1\n2\n2\n2\n");
  },
);

test.for(DURABILITIES)(
  "a whole line that a killed writer left without LF gets it from the next append (%s)",
  async (durability) => {
    const path = logHolding("1\n");
    const log = await openWriter(path, { durability, mode: "shared" });
    appendFileSync(path, '{"n":2}');
    assert.equal(await log.append(bytesOf("3")), 12);
    assert.equal(contentOf(path), '1\n{"n":2}\n3\n');
  },
);

test("the cut of another's torn tail is durable before anything is written in its place", async () => {
  for (const durability of DURABILITIES) {
    const path = logHolding("1\n");
    const disk = new WatchedFiles();
    const log = await openWriter(path, { durability, mode: "shared" }, disk.host);
    appendFileSync(path, '{"torn');
    disk.calls.length = 0;
    await log.append(bytesOf("2"));

    const steps = disk.calls.filter(({ name }) => name === LOG).map(({ call }) => call);
    const [cut, write] = [steps.indexOf("truncate"), steps.indexOf("write")];
    assert.ok(cut >= 0 && cut < write);
    assert.ok(steps.slice(cut, write).includes("sync"), steps.join(" "));
  }
});

test("an append is refused when a torn tail cannot be copied aside, and the next one tries again", async () => {
  for (const durability of DURABILITIES) {
    const path = logHolding("1\n");
    const disk = new WatchedFiles();
    const log = await openWriter(path, { durability, mode: "shared" }, disk.host);
    appendFileSync(path, '{"torn');
    disk.before = ({ call, name }) => {
      if (call === "write" && name === `${LOG}.torn-0`) throw errno("ENOSPC");
      return undefined;
    };
    await refusal(log.append(bytesOf("2")), "NO_SPACE");
    assert.equal(contentOf(path), '1\n{"torn');

    disk.before = () => undefined;
    await log.append(bytesOf("2"));
    assert.equal(contentOf(path), "1\n2\n");
  }
});

test("a writer holds the lock during write and sync, and then releases it", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const first = await openWriter(path, { mode: "shared" }, disk.host);
  const second = await openWriter(path, { mode: "shared", lockWaitMs: 60_000 });
  const gate = new Gate();
  disk.before = ({ call, name }) => (call === "sync" && name === LOG ? gate.pass() : undefined);

  const appended = first.append(bytesOf("1"));
  await gate.reached;
  await refusal(openWriter(path, { lockWaitMs: 0 }), "LOG_LOCKED");
  const waiting = second.append(bytesOf("2"));
  assert.ok(await isPending(waiting));
  assert.equal(contentOf(path), "1\n");

  gate.open();
  await Promise.all([appended, waiting]);
  assert.equal(contentOf(path), "1\n2\n");
});

test("an append that waits too long for the lock is refused, and nothing of it is written", async () => {
  for (const durability of DURABILITIES) {
    const path = newLogPath();
    const shared = await openWriter(path, { durability, mode: "shared", lockWaitMs: 1 });
    await shared.append(bytesOf("1"));
    const exclusive = await openWriter(path);
    const { details } = await refusal(shared.append(bytesOf("2")), "LOG_LOCKED");
    assert.deepEqual(details, { path, holder: { pid: process.pid, started: startedOf(path) } });
    await exclusive.append(bytesOf("3"));
    await exclusive.close();

    await shared.append(bytesOf("4"));
    assert.equal(contentOf(path), "1\n3\n4\n");
  }
});

test("a failed writer does not block the others", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const failed = await openWriter(path, { mode: "shared" }, disk.host);
  const other = await openWriter(path, { mode: "shared", lockWaitMs: 0 });
  disk.before = ({ call, name }) => {
    if (call === "sync" && name === LOG) throw errno("EIO");
    return undefined;
  };
  await refusal(failed.append(bytesOf("1")), "LOG_WRITER_FAILED");
  await other.append(bytesOf("2"));
  assert.equal(contentOf(path), "1\n2\n");
});

function startedOf(path: string): string {
  return (JSON.parse(contentOf(`${path}.lock`)) as { started: string }).started;
}

test.for(DURABILITIES)(
  "the cut after a full disk is durable before another writer may append (%s)",
  async (durability) => {
    // Otherwise a power cut could bring back the old size, with remains of both lines in one.
    const path = logHolding('{"n":0}\n');
    const disk = new WatchedFiles();
    const options = { durability, mode: "shared" } as const;
    const full = await openWriter(path, options, disk.host);
    const other = await openWriter(path, options, disk.host);
    const calls: string[] = [];
    disk.before = ({ name, call }) => {
      if (name === LOG && ["write", "truncate", "sync"].includes(call)) calls.push(call);
      return undefined;
    };
    let isFirst = true;
    disk.takes = ({ bytes }) => {
      const taken = isFirst ? 3 : bytes;
      isFirst = false;
      return taken;
    };
    await Promise.all([
      refusal(full.append(bytesOf('{"n":1}')), "NO_SPACE"),
      other.append(bytesOf('{"n":2}')),
    ]);
    await full.append(bytesOf('{"n":3}'));

    assert.deepEqual(calls.slice(0, 4), ["write", "truncate", "sync", "write"]);
    await full.close();
    await other.close();
    assert.equal(contentOf(path), '{"n":0}\n{"n":2}\n{"n":3}\n');
  },
);
