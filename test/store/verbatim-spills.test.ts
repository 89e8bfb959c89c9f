/**
 * Spill files of sessions that share a directory: whose they are, and what is left of them after a
 * failed call, a removal, a restore and an erasure.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Native, NewEntry } from "../../src/core/model/entry.ts";
import { LINE_BYTES_MAX } from "../../src/dialects/verbatim/dialect.ts";
import { openStore } from "../../src/doors/index.ts";
import { isLogPlace } from "../../src/sessions/list/log-places.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { CliUser } from "../cli/cli.ts";
import { opened } from "../support/entire-store.ts";
import { findingsIn } from "../support/examining.ts";
import { errno, refusal } from "../support/refusal.ts";
import { isTried } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const LONG = LINE_BYTES_MAX + 1;

function image(length: number, letter = "A"): NewEntry {
  const data = letter.repeat(length);
  return {
    kind: "message",
    role: "user",
    parts: [{ type: "image", mediaType: "image/png", data }],
  };
}

function spillsOf({ path }: { readonly path: string }): string[] {
  const names = readdirSync(dirname(path));
  return names.filter((each) => each.startsWith(`${basename(path)}.`) && each.endsWith(".spill"));
}

/** The first letter and length of each image, as read back; or why a line is bad. */
async function imagesIn(session: Pick<Session, "entries">): Promise<string[]> {
  const images: string[] = [];
  const onBadLine = ({ reason }: { reason: string }) => images.push(reason);
  for await (const { parts } of session.entries({ restoresSpilled: true, onBadLine })) {
    const [part] = parts;
    if (part?.type === "image") images.push(`${part.data?.[0]}${part.data?.length}`);
  }
  return images;
}

test("a line of 8 MiB is written whole, and one a byte longer spills", async () => {
  const lengthOf = (bytes: number): Native => {
    const line = { type: "entry", id: "l", at: "2026-11-16T10:00:00.000Z", agent: "" };
    const entry = image(4);
    const rest = JSON.stringify({ ...line, entry }).length;
    return {
      ...line,
      agent: "a".repeat((bytes - rest) % 4),
      entry: image(4 + bytes - rest - ((bytes - rest) % 4)),
    };
  };
  for (const [bytes, files] of [
    [LINE_BYTES_MAX, 0],
    [LINE_BYTES_MAX + 1, 1],
  ] as const) {
    const { session, store } = opened({ dialect: "verbatim", durability: "os" });
    const line = lengthOf(bytes);
    assert.equal(JSON.stringify(line).length, bytes);
    await session.appendLines([line]);
    assert.equal(spillsOf(session).length, files);
    assert.equal((await imagesIn(session)).length, 1);
    await store.close();
  }
});

test.each(["disk", "os"] as const)(
  "long and short lines stay in the order of the calls, alone and together (%s)",
  async (durability) => {
    const { session, store } = opened({ dialect: "verbatim", durability });
    const entries = [4, LONG + 3, 8, 2 * LONG + 2, 12].map((length) => image(length));
    const ends = await Promise.all(entries.map((entry) => session.append(entry)));
    ends.push(...(await session.appendAll(entries)));
    assert.deepEqual(
      ends,
      ends.toSorted((a, b) => a - b),
    );
    assert.equal(ends.at(-1), readFileSync(session.path).length);
    const lengths = [4, LONG + 3, 8, 2 * LONG + 2, 12].map((length) => `A${length}`);
    assert.deepEqual(await imagesIn(session), [...lengths, ...lengths]);
    assert.equal(spillsOf(session).length, 4);
    await store.close();
  },
);

test("if one of several lines cannot be spilled, none is written", async () => {
  const { session, store } = opened({ dialect: "verbatim" });
  await session.append(image(4));
  const before = readFileSync(session.path).length;
  const text = "secret ".repeat(100);
  const parts = Array(15_000).fill({ type: "text", text });
  const many: NewEntry = { kind: "message", role: "user", parts };
  for (const append of [
    () => session.append(many),
    () => session.appendAll([image(LONG + 3), many]),
  ]) {
    const { message } = await refusal(append(), "INVALID_ENTRY");
    assert.ok(!message.includes("secret"));
  }
  assert.equal(readFileSync(session.path).length, before);
  assert.deepEqual(spillsOf(session), []);
  await store.close();
});

test("whichever disk call fails, no line names a missing file and none that was acknowledged is lost", async () => {
  const live = async (failing: number, code: string) => {
    const { disk, session, store, root } = opened({ dialect: "verbatim" });
    await session.append(image(4, "B"));
    disk.calls.length = 0;
    disk.before = () => {
      if (disk.calls.length - 1 >= failing) throw errno(code);
      return undefined;
    };
    const settled = await Promise.allSettled([
      session.append(image(LONG + 3)),
      session.append(image(8)),
    ]);
    const calls = disk.calls.length;
    disk.before = () => undefined;
    await store.close().catch(() => {});
    const again = new Store(nodeHost, { dialect: "verbatim", root });
    const images = await imagesIn(again.session(session.id));
    const expected = [`A${LONG + 3}`, "A8"].filter((_, n) => settled[n]?.status === "fulfilled");
    assert.deepEqual(
      images.filter((each) => !/^[AB]\d+$/.test(each)),
      [],
      `call ${failing}`,
    );
    for (const each of ["B4", ...expected]) assert.ok(images.includes(each), `call ${failing}`);
    await again.session(session.id).append(image(LONG + 3, "C"));
    assert.equal((await imagesIn(again.session(session.id))).at(-1), `C${LONG + 3}`);
    await again.close();
    return calls;
  };
  const calls = await live(Number.POSITIVE_INFINITY, "");
  assert.ok(calls >= 6);
  for (let call = 0; call < calls; call++) {
    for (const [nth, code] of ["EIO", "ENOSPC"].entries()) {
      if (isTried(call + nth, 4)) await live(call, code);
    }
  }
});

test("a file is of one session: another session's line that states its name does not get it", async () => {
  const root = tempDirectory();
  const store = await openStore({ root });
  const [one, other] = [await store.create({ id: "s1" }), await store.create({ id: "s1.jsonl.x" })];
  await one.append(image(LONG + 3));
  await other.append(image(LONG + 7, "B"));
  const [name = ""] = spillsOf(one);
  assert.equal(await isLogPlace(join(dirname(one.path), name)), true);
  writeFileSync(join(root, ".verbatim/sessions/s2.jsonl"), readFileSync(one.path));
  const copied = await imagesIn(await store.open("s2"));
  assert.equal(copied.length, 1);
  assert.match(copied[0] ?? "", /^s2\.jsonl\.[0-9a-f]{32}\.0\.spill is missing$/);
  assert.deepEqual(await imagesIn(one), [`A${LONG + 3}`]);
  assert.deepEqual(await imagesIn(other), [`B${LONG + 7}`]);
  await store.close();
});

test("doctor reports a file that no line names, and one that is missing or altered, at its session", async () => {
  const root = tempDirectory();
  const store = await openStore({ root });
  const [one, other] = [await store.create({ id: "s1" }), await store.create({ id: "s2" })];
  for (const session of [one, other]) await session.append(image(LONG + 3));
  await store.close();
  assert.deepEqual(await findingsIn(root, "verbatim"), []);
  const [path = ""] = spillsOf(one).map((name) => join(dirname(one.path), name));
  const left = join(dirname(one.path), `s1.jsonl.${"0".repeat(32)}.0.spill`);
  writeFileSync(left, '"left"', { mode: 0o600 });
  const summary = async () => {
    const findings = await findingsIn(root, "verbatim");
    return findings.map(({ code, session, path }) => [code, session, path]);
  };
  assert.deepEqual(await summary(), [["SPILL_UNUSED", "s1", left]]);
  rmSync(left);
  const content = readFileSync(path);
  writeFileSync(path, Buffer.from(content).fill("B", 9, 10));
  assert.deepEqual(await summary(), [["SPILL_CHANGED", "s1", path]]);
  rmSync(path);
  assert.deepEqual(await summary(), [["SPILL_MISSING", "s1", path]]);
  renameSync(other.path, `${other.path}.away`);
  writeFileSync(path, content, { mode: 0o600 });
  const orphans = await summary();
  assert.ok(
    orphans.every(([, session]) => session === "s2"),
    JSON.stringify(orphans),
  );
});

test("rm takes the files of its session along, restore brings them back, and a fork keeps its own", async () => {
  const user = new CliUser();
  const store = await openStore({ root: user.cwd });
  const session = await store.create({ id: "first" });
  await session.append(image(LONG + 3));
  const parts = [{ type: "text", text: "An oven." }] as const;
  await session.append({ kind: "message", role: "assistant", parts });
  await session.append({ kind: "turn_end" });
  await store.close();
  const files = () => {
    const names = readdirSync(dirname(session.path)).filter((name) => !name.endsWith(".lock"));
    return names.sort();
  };
  const before = files();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await user.run(args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await run("rm", "first", "--reason", "-", "--yes");
  assert.deepEqual(files(), []);
  await run("restore", "first");
  assert.deepEqual(files(), before);
  assert.deepEqual(await imagesIn(session), [`A${LONG + 3}`]);

  const resumed = ["--for", "anthropic", "--model", "m", "--up-to", "1"];
  await run("resume", "first", ...resumed, "--record", "--allow-unsigned");
  await run("rm", "first", "--reason", "-", "--yes", "--purge", "--leave-forks");
  const [fork, ...more] = files().filter((name) => name.endsWith(".jsonl"));
  assert.ok(fork && more.length === 0);
  const again = await openStore({ root: user.cwd });
  const copy = await again.open(basename(fork, ".jsonl"));
  assert.equal(spillsOf(copy).length, 1);
  assert.deepEqual(await imagesIn(copy), [`A${LONG + 3}`]);
  await again.close();
});
