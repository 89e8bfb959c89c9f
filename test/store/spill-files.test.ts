/**
 * Strings too long for a row: which rows spill, when the spill file is written, and when it is
 * removed.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "vitest";
import { ROW_BYTES_MAX } from "../../src/dialects/entire/spill.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { assertChain } from "../support/entire-rows.ts";
import { MIB, opened, says } from "../support/entire-store.ts";
import { errno, refusal } from "../support/refusal.ts";
import type { FileCall } from "../support/watched-files.ts";

const DIALECTS = ["entire", "verbatim"] as const;

function talks(session: Session, text: string): Promise<number> {
  return session.append({ kind: "message", role: "user", parts: [{ type: "text", text }] });
}

/** A row whose line has exactly that many bytes, for a parent of 36 characters. */
async function ofLength(session: Session, bytes: number): Promise<number> {
  await says(session, "a parent");
  const start = readFileSync(session.path).length;
  await says(session, "");
  const empty = readFileSync(session.path).length - start - 1;
  return says(session, "x".repeat(bytes - empty));
}

test("a row of 8 MiB is written whole, and one a byte longer spills its longest string", async () => {
  assert.equal(ROW_BYTES_MAX, 8 * MIB);
  const whole = opened({ durability: "os" });
  await ofLength(whole.session, ROW_BYTES_MAX);
  assert.deepEqual(
    readdirSync(dirname(whole.session.path)).filter((name) => /spill/.test(name)),
    [],
  );
  const last = readFileSync(whole.session.path, "utf8").trimEnd().split("\n").at(-1) ?? "";
  assert.equal(last.length, ROW_BYTES_MAX);

  const spilt = opened({ durability: "os" });
  await ofLength(spilt.session, ROW_BYTES_MAX + 1);
  const row = spilt.rows().at(-1);
  const name = `${row?.uuid}.0.spill`;
  assert.deepEqual(
    readdirSync(dirname(spilt.session.path)).filter((each) => /spill/.test(each)),
    [name],
  );
  assertChain(spilt.rows());
});

test("spilled strings are restored unchanged on request; otherwise a short text replaces them", async () => {
  const { session, rows } = opened();
  const long = `é \ud800 "\\ \u2028${"x".repeat(9 * MIB)}`;
  await says(session, long);
  await says(session, "after");
  const [shown] = await session.last(2);
  assert.match(JSON.stringify(shown?.parts), /bytes are kept in [0-9a-f-]{36}\.0\.spill/);
  const restored = [];
  for await (const entry of session.entries({ restoresSpilled: true })) restored.push(entry);
  assert.deepEqual(restored[0]?.parts, [{ type: "text", text: long }]);
  assert.equal(restored[0]?.native.spill, undefined);
  assert.deepEqual(restored[1]?.native, rows()[1]);
  assert.equal(
    readFileSync(join(dirname(session.path), "prompt.txt"), "utf8"),
    long.toWellFormed(),
  );
});

test.each(DIALECTS)(
  "a spilled string that is missing, cut, altered or a link makes its row a bad line (%s)",
  async (dialect) => {
    const { session } = opened({ dialect });
    await talks(session, "x".repeat(9 * MIB));
    const [name = ""] = readdirSync(dirname(session.path)).filter((each) =>
      each.endsWith(".spill"),
    );
    const path = join(dirname(session.path), name);
    const bytes = readFileSync(path);
    const altered = Buffer.from(bytes);
    altered[5] = 0x79;
    const faults: readonly (readonly [Buffer, string])[] = [
      [bytes.subarray(1), "of another length"],
      [altered, "altered"],
    ];
    const reasons = async () => {
      const told: string[] = [];
      const onBadLine = ({ reason }: { reason: string }) => told.push(reason);
      for await (const _ of session.entries({ restoresSpilled: true, onBadLine }));
      return told;
    };
    assert.deepEqual(await reasons(), []);
    for (const [content, fault] of faults) {
      writeFileSync(path, content);
      assert.deepEqual(await reasons(), [`${name} is ${fault}`]);
    }
    rmSync(path);
    assert.deepEqual(await reasons(), [`${name} is missing`]);
    symlinkSync("/dev/null", path);
    assert.deepEqual(await reasons(), [`${name} is not a file of ours`]);
  },
);

test.each(DIALECTS)(
  "a spill file and its name are durable before its row is written (%s)",
  async (dialect) => {
    const { disk, session } = opened({ dialect });
    await talks(session, "first");
    disk.calls.length = 0;
    await talks(session, "x".repeat(9 * MIB));
    const steps = disk.calls.map(({ call, name }) => {
      return name === basename(session.path)
        ? `${call} log`
        : name.endsWith(".spill")
          ? `${call} spill`
          : call;
    });
    const order = [
      "open spill",
      "write spill",
      "sync spill",
      "syncDirectory",
      "write log",
      "sync log",
    ];
    const at = order.map((step) => steps.indexOf(step));
    assert.ok(!at.includes(-1), steps.join(", "));
    assert.deepEqual(
      at,
      at.toSorted((x, y) => x - y),
    );
  },
);

test.each(DIALECTS)(
  "if there is no space for a spill file only its row is refused, and no part of it is left (%s)",
  async (dialect) => {
    const { disk, session } = opened({ dialect });
    await talks(session, "first");
    disk.takes = ({ bytes, name }) => (name.endsWith(".spill") ? Math.min(bytes, 1000) : bytes);
    const spills: FileCall[] = [];
    disk.before = (call) => {
      if (call.call === "write" && call.name.endsWith(".spill") && spills.push(call) === 3) {
        throw errno("ENOSPC");
      }
      return undefined;
    };
    const work = [
      talks(session, "before"),
      talks(session, "x".repeat(9 * MIB)),
      talks(session, "after"),
    ];
    const [before, refused, after] = await Promise.allSettled(work);
    assert.equal(
      refused?.status === "rejected" && (refused.reason as { code?: string }).code,
      "NO_SPACE",
    );
    assert.deepEqual([before?.status, after?.status], ["fulfilled", "fulfilled"]);
    const parts = (await session.last(9)).flatMap((entry) => entry.parts);
    assert.deepEqual(
      parts.map((part) => part.type === "text" && part.text),
      ["first", "before", "after"],
    );
    assert.deepEqual(
      readdirSync(dirname(session.path)).filter((name) => /spill/.test(name)),
      [],
    );
  },
);

test.each(DIALECTS)(
  "the spill file of a row that did not fit is removed; after a failed sync it is kept (%s)",
  async (dialect) => {
    const spillsBeside = (session: Session) =>
      readdirSync(dirname(session.path)).filter((name) => name.endsWith(".spill")).length;
    const full = opened({ dialect });
    await talks(full.session, "first");
    full.disk.takes = ({ bytes, name }) => (name === basename(full.session.path) ? 7 : bytes);
    await refusal(talks(full.session, "x".repeat(9 * MIB)), "NO_SPACE");
    assert.equal(spillsBeside(full.session), 0);

    const broken = opened({ dialect });
    await talks(broken.session, "first");
    broken.disk.before = ({ call, name }) => {
      if (call === "sync" && name === basename(broken.session.path)) throw errno("EIO");
      return undefined;
    };
    await refusal(talks(broken.session, "x".repeat(9 * MIB)), "LOG_WRITER_FAILED");
    // The row may be there when the log is opened again, and then needs it.
    assert.equal(spillsBeside(broken.session), 1);
  },
);
