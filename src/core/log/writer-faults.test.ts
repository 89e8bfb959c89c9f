/** What a writer does when the disk is full or fails, and what it leaves in the file. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { Gate } from "../../../test/support/gate.ts";
import { bytesOf, contentOf, logHolding, openWriter } from "../../../test/support/open-log.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { type FileCall, WatchedFiles } from "../../../test/support/watched-files.ts";
import { WRITER_KINDS, type WriterKind } from "../../../test/support/writer-kinds.ts";

const LOG = "log.jsonl";
/**
 * With `os` and `exclusive` a writer does not check the file first: that is one more call per line.
 */
const LOOKING_KINDS = WRITER_KINDS.filter(([name]) => name !== "os, exclusive");
const BEFORE = '{"n":0}\n';

test.for(WRITER_KINDS)(
  "a full disk refuses with NO_SPACE, leaves the log unchanged, and the log continues (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) {
      disk.before = failing("write", code);
      const before = readFileSync(path);
      const { details } = await refusal(log.append(bytesOf("12345")), "NO_SPACE");
      assert.deepEqual(details, { path, end: before.length, bytes: 6 });
      await refusal(log.appendLines(bytesOf("1\n2\n")), "NO_SPACE");
      assert.deepEqual(readFileSync(path), before);

      disk.before = () => undefined;
      assert.equal(await log.append(bytesOf(`"${code}"`)), before.length + code.length + 3);
    }
    await log.close();
    assert.equal(contentOf(path), `${BEFORE}"ENOSPC"\n"EDQUOT"\n"EFBIG"\n`);
  },
);

test.for(WRITER_KINDS)(
  "a short write is undone whole, wherever it was cut (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    const lines = '{"a":1}\n{"é":2}\n';
    for (let taken = 0; taken < Buffer.byteLength(lines); taken++) {
      disk.takes = () => taken;
      await refusal(log.appendLines(bytesOf(lines)), "NO_SPACE");
      assert.equal(contentOf(path), BEFORE, `${taken} bytes taken`);
    }
    disk.takes = ({ bytes }) => bytes;
    await log.appendLines(bytesOf(lines));
    await log.close();
    assert.equal(contentOf(path), BEFORE + lines);
  },
);

test.for(WRITER_KINDS)(
  "all callers of a batch that found no space are refused (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    disk.takes = () => 3;
    const refused = [1, 2, 3].map((n) => refusal(log.append(bytesOf(`${n}${n}${n}`)), "NO_SPACE"));
    await Promise.all(refused);
    disk.takes = ({ bytes }) => bytes;

    await log.append(bytesOf("4"));
    assert.equal(contentOf(path), `${BEFORE}4\n`);
  },
);

test.for(WRITER_KINDS)(
  "nothing is written after a roll-back before the cut is durable (%s)",
  async ([, kind]) => {
    const { disk, log } = await opened(kind);
    disk.takes = () => 3;
    await refusal(log.append(bytesOf("12345")), "NO_SPACE");
    disk.takes = ({ bytes }) => bytes;
    await log.append(bytesOf("1"));

    const steps = disk.calls.filter(({ name }) => name === LOG).map(({ call }) => call);
    const afterCut = steps.slice(steps.lastIndexOf("truncate") + 1);
    assert.ok(afterCut.includes("write"));
    assert.equal(afterCut[0], "sync");
  },
);

test.for(WRITER_KINDS)("when undoing fails too, the writer is finished (%s)", async ([, kind]) => {
  const { path, disk, log } = await opened(kind);
  disk.takes = () => 3;
  disk.before = failing("truncate", "EIO");
  await isFinished(() => log.append(bytesOf("12345")), path, BEFORE.length);
  disk.takes = ({ bytes }) => bytes;
  disk.before = () => undefined;
  await isFinished(() => log.append(bytesOf("1")), path, BEFORE.length);
  await isFinished(() => log.close(), path, BEFORE.length);

  const again = await openWriter(path);
  await again.append(bytesOf("2"));
  assert.equal(contentOf(path), `${BEFORE}2\n`);
  assert.equal(contentOf(`${path}.torn-0`), "123");
});

test.for(WRITER_KINDS)(
  "a write that fails for another reason ends the writer, with its bytes undone (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    disk.before = failing("write", "EIO");
    await isFinished(() => log.append(bytesOf("1")), path, BEFORE.length);
    disk.before = () => undefined;
    await isFinished(() => log.append(bytesOf("1")), path, BEFORE.length);
    await isFinished(() => log.flush(), path, BEFORE.length);
    await isFinished(() => log.close(), path, BEFORE.length);

    assert.equal(contentOf(path), BEFORE);
  },
);

test.for(WRITER_KINDS)(
  "a failed sync ends the writer for good: it is never retried (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    await log.append(bytesOf("1"));
    await log.flush();
    disk.before = failing("sync", "EIO");
    const synced = BEFORE.length + 2;
    const sync =
      kind.durability === "disk"
        ? () => log.append(bytesOf("2"))
        : () => log.append(bytesOf("2")).then(() => log.flush());
    await isFinished(sync, path, synced);

    disk.before = () => undefined;
    disk.calls.length = 0;
    for (const refused of [
      () => log.append(bytesOf("3")),
      () => log.appendLines(bytesOf("3\n")),
      () => log.flush(),
      () => log.close(),
    ]) {
      await isFinished(refused, path, synced);
    }
    assert.deepEqual(disk.made("sync", LOG), []);
    assert.deepEqual(disk.made("write", LOG), []);
  },
);

test("a failed sync refuses all callers that wait for it, and those that wait for the next one", async () => {
  const { path, disk, log } = await opened({ durability: "disk", mode: "exclusive" });
  disk.before = ({ call }) => {
    if (call !== "sync") return undefined;
    for (let n = 0; n < 5; n++) later.push(isFinished(() => log.append(bytesOf("2")), path, 8));
    throw errno("EIO");
  };
  const later: Promise<void>[] = [];
  const first = [1, 2, 3].map(() => isFinished(() => log.append(bytesOf("1")), path, 8));
  await Promise.all(first);
  assert.equal(later.length, 5);
  await Promise.all(later);
});

test.for(WRITER_KINDS)(
  "a failed writer releases the lock when it is closed (%s)",
  async ([, kind]) => {
    const { path, disk, log } = await opened(kind);
    disk.before = failing("write", "EIO");
    await isFinished(() => log.append(bytesOf("1")), path, BEFORE.length);
    await refusal(log.close(), "LOG_WRITER_FAILED");

    await openWriter(path, { lockWaitMs: 0 });
  },
);

test.for(WRITER_KINDS)(
  "lines that another program appended without our lock are never cut by a rollback (%s)",
  async ([, kind]) => {
    // Before our write or during it, and of any length.
    for (const foreign of ["1\n", "foreign line\n", `${"f".repeat(300)}\n`]) {
      for (const takes of [0, 3]) {
        for (const when of ["before", "between"] as const) {
          const { path, disk, log } = await opened(kind);
          const intrude = () => appendFileSync(path, foreign);
          disk.takes = () => takes;
          if (when === "before") intrude();
          else {
            disk.before = ({ call }) => {
              if (call === "write") intrude();
              return undefined;
            };
          }
          await assert.rejects(log.append(bytesOf("x".repeat(100))));
          await log.close().catch(() => {}); // A failed writer throws again.

          const left = contentOf(path);
          assert.ok(left.startsWith(BEFORE + foreign), `${foreign.length} bytes ${when}, ${takes}`);
        }
      }
    }
  },
);

test.for(LOOKING_KINDS)(
  "after lines that another program appended without our lock, offsets are still true (%s)",
  async ([, kind]) => {
    const { path, log } = await opened(kind);
    appendFileSync(path, "foreign\n");
    const end = await log.append(bytesOf("mine"));

    assert.equal(contentOf(path), `${BEFORE}foreign\nmine\n`);
    assert.equal(end, contentOf(path).length);
  },
);

test.for(LOOKING_KINDS)(
  "a log that another program truncated ends the writer, which does not write into the gap (%s)",
  async ([, kind]) => {
    const { path, log } = await opened(kind);
    await log.append(bytesOf("1"));
    truncateSync(path, 3);

    await refusal(log.append(bytesOf("2")), "LOG_WRITER_FAILED");
    assert.equal(contentOf(path), BEFORE.slice(0, 3));
  },
);

test.for(WRITER_KINDS)(
  "bytes written to a removed or replaced log are never acknowledged as durable (%s)",
  async ([, kind]) => {
    for (const replace of [false, true]) {
      const { path, log } = await opened(kind);
      await log.append(bytesOf("1"));
      await log.flush();
      unlinkSync(path);
      if (replace) writeFileSync(path, BEFORE);

      const appended = log.append(bytesOf("2"));
      if (kind.durability === "disk") await refusal(appended, "LOG_WRITER_FAILED");
      else await appended;
      await refusal(log.flush(), "LOG_WRITER_FAILED");
      await refusal(log.append(bytesOf("3")), "LOG_WRITER_FAILED");
      if (replace) assert.equal(contentOf(path), BEFORE);
    }
  },
);

async function opened(kind: WriterKind) {
  const path = logHolding(BEFORE);
  const disk = new WatchedFiles();
  const log = await openWriter(path, kind, disk.host);
  return { path, disk, log };
}

function failing(call: FileCall["call"], code: string): WatchedFiles["before"] {
  return (made) => {
    if (made.call === call && made.name === LOG) throw errno(code);
    return undefined;
  };
}

async function isFinished(use: () => Promise<unknown>, path: string, end: number): Promise<void> {
  const { details } = await refusal(use(), "LOG_WRITER_FAILED");
  assert.deepEqual(details, { path, end });
}

test("when one of two concurrent syncs fails, the other vouches for nothing", async () => {
  const disk = new WatchedFiles();
  const path = logHolding(BEFORE);
  const log = await openWriter(path, { durability: "os" }, disk.host);
  await log.append(bytesOf("1"));
  const gates = [new Gate(), new Gate()];
  let syncs = 0;
  disk.before = ({ call, name }) => {
    if (call !== "sync" || name !== LOG) return undefined;
    const gate = gates[syncs++];
    return syncs === 1 ? gate?.pass().then(() => Promise.reject(errno("EIO"))) : gate?.pass();
  };
  const flushed = refusal(log.flush(), "LOG_WRITER_FAILED");
  const closed = refusal(log.close(), "LOG_WRITER_FAILED");
  for (const gate of gates) await gate.reached;
  gates[0]?.open();
  await flushed;
  gates[1]?.open();
  await closed;
  // So the next opening rewrites everything that is in doubt.
  const { recovery } = await openWriter(path);
  assert.equal(recovery.rewrittenBytes, 2);
});
