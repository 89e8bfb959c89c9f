import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pinOf } from "../../../test/support/pins.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { type Pin, pinFields } from "../proof/pin.ts";
import {
  COMPACT_FACTOR,
  COMPACT_LOOK_BYTES,
  HeadFile,
  PIN_LINE_BYTES_MAX,
  pinLine,
} from "./head-file.ts";

const LAZY = { isDurable: false };

function fileHolding(content: string | Buffer, host: Host = nodeHost): HeadFile {
  const directory = tempDirectory();
  const file = new HeadFile(host, directory);
  writeFileSync(file.path, content);
  return file;
}

async function pinsOf(file: HeadFile): Promise<Pin[]> {
  const pins: Pin[] = [];
  assert.equal(await file.read((pin) => pins.push(pin)), null);
  return pins;
}

function append(file: HeadFile, ...pins: readonly Pin[]): Promise<void> {
  return file.locked((heads) => heads.append(pins, LAZY));
}

test("cut at any byte, the file keeps its whole lines and the torn bytes, and accepts more", async () => {
  const pins = [pinOf("a", 1), pinOf("ü", 2), pinOf("c", 3)];
  const whole = Buffer.from(pins.map(pinLine).join(""));
  const last = whole.length - Buffer.byteLength(pinLine(pinOf("c", 3)));
  for (let cut = last; cut <= whole.length; cut++) {
    const file = fileHolding(whole.subarray(0, cut));
    const expected = expectedEnd(whole.subarray(0, cut));
    // A last line that lacks only its LF counts, and then gets its LF.
    const found = await pinsOf(file);
    assert.equal(found.map(pinLine).join(""), expected.repaired.toString(), `cut at ${cut}`);

    await append(file, pinOf("d", 4));
    const after = `${expected.repaired}${pinLine(pinOf("d", 4))}`;
    assert.equal(readFileSync(file.path, "utf8"), after, `cut at ${cut}`);
    const kept = `${file.path}.torn-0`;
    assert.equal(existsSync(kept), expected.cut.length > 0, `cut at ${cut}`);
    if (expected.cut.length > 0) assert.deepEqual(readFileSync(kept), expected.cut);
  }
});

/** Lines that are not pins, and how they are reported. */
const HOSTILE: readonly (readonly [string | Buffer, string])[] = [
  ["not JSON at all", "not JSON"],
  [Buffer.from([0x22, 0xff, 0x22]), "not UTF-8"],
  ["\0\0\0", "holds NUL"],
  [JSON.stringify("x".repeat(PIN_LINE_BYTES_MAX)), "too long"],
  ["[".repeat(50_000) + "]".repeat(50_000), "not an object"],
  ["null", "not an object"],
  ["[]", "not an object"],
  ["{}", "without v"],
  ['{"__proto__":{"v":1}}', "without v"],
  [
    JSON.stringify({ ...pinFields(pinOf("a", 9)), __proto__: null, more: 1 }),
    "with an unknown field",
  ],
  [JSON.stringify({ ...pinFields(pinOf("a", 9)), seq: "9" }), "bad seq"],
  [JSON.stringify({ ...pinFields(pinOf("a", 9)), seq: -1 }), "bad seq"],
  [JSON.stringify({ ...pinFields(pinOf("a", 9)), v: 2 }), "of a newer version"],
  [JSON.stringify({ ...pinFields(pinOf("a", 9)), place: 7 }), "bad place"],
  [JSON.stringify({ ...pinFields(pinOf("a", 9)), why: "trust me" }), "bad why"],
];

test("lines that are not pins are never trusted, never dropped, and reported with the first one's place", async () => {
  for (const [hostile, reason] of HOSTILE) {
    const lines = [pinLine(pinOf("a", 1)), hostile, "\n", pinLine(pinOf("b", 2))];
    const content = Buffer.concat(lines.map((line) => Buffer.from(line)));
    const file = fileHolding(content);
    const pins: Pin[] = [];
    const bad = await file.read((pin) => pins.push(pin));
    assert.deepEqual(bad, { count: 1, line: 2, reason });
    assert.deepEqual(pins, [pinOf("a", 1), pinOf("b", 2)]);
    await append(file, pinOf("a", 2));
    assert.deepEqual(
      readFileSync(file.path),
      Buffer.concat([content, Buffer.from(pinLine(pinOf("a", 2)))]),
    );
  }
});

test("every bad line is counted, and empty lines are not", async () => {
  const content = HOSTILE.map(([line]) => Buffer.concat([Buffer.from(line), Buffer.from("\n\n")]));
  const file = fileHolding(Buffer.concat([...content, Buffer.from(pinLine(pinOf("a", 1)))]));
  const bad = await file.read(() => {});
  assert.deepEqual(bad, { count: HOSTILE.length, line: 1, reason: "not JSON" });
});

test("a line of a pin's maximum length is read; a longer one is bad", async () => {
  const fields = JSON.stringify(pinFields(pinOf("a", 1)));
  const padded = (bytes: number) => `{${" ".repeat(bytes - fields.length)}${fields.slice(1)}`;
  const longest = padded(PIN_LINE_BYTES_MAX);
  assert.equal(longest.length, PIN_LINE_BYTES_MAX);
  assert.deepEqual(await pinsOf(fileHolding(`${longest}\n`)), [pinOf("a", 1)]);
  const file = fileHolding(`${padded(PIN_LINE_BYTES_MAX + 1)}\n`);
  assert.deepEqual(await file.read(() => {}), { count: 1, line: 1, reason: "too long" });
  const widest = { ...pinOf("\u0001".repeat(8192), 1), place: `rye:/${"\u0001".repeat(8187)}` };
  expect(pinLine(widest).length).toBeLessThan(PIN_LINE_BYTES_MAX);
});

/** This many bytes of lines, the sessions in turn, with increasing numbers. */
function linesOf(bytes: number, sessions: number): { content: string; pins: Pin[] } {
  let content = "";
  const pins: Pin[] = [];
  for (let n = 0; ; n++) {
    const pin = pinOf(`s${n % sessions}`, n, { log: n % sessions });
    const line = pinLine(pin);
    if (content.length + line.length > bytes) return { content, pins };
    content += line;
    pins.push(pin);
  }
}

const ONE_LINE = Buffer.byteLength(pinLine(pinOf("a", 1)));

test("a file with many superseded lines is compacted, and holds the same pins", async () => {
  const { content, pins } = linesOf(COMPACT_LOOK_BYTES - 1, 10);
  const file = fileHolding(content);
  await append(file, pinOf("last", 1, { log: 99 }));

  const expected = [...pins.slice(-10), pinOf("last", 1, { log: 99 })];
  assert.equal(readFileSync(file.path, "utf8"), expected.map(pinLine).join(""));
  assert.equal(statSync(file.path).mode & 0o777, 0o600);
  await append(file, pinOf("after", 1));
  assert.equal((await pinsOf(file)).length, 12);
});

test("a file is not compacted below the minimum size, or while most lines are needed", async () => {
  const { content: short } = linesOf(COMPACT_LOOK_BYTES - 2 * ONE_LINE, 1);
  const small = fileHolding(short);
  await append(small, pinOf("a", 1));
  assert.equal(readFileSync(small.path, "utf8"), short + pinLine(pinOf("a", 1)));

  // Just below the factor, and at it.
  const lines = linesOf(COMPACT_LOOK_BYTES - 1, 1).pins.length;
  for (const [sessions, isCompacted] of [
    [Math.ceil(lines / COMPACT_FACTOR) + 4, false],
    [Math.floor(lines / COMPACT_FACTOR) - 4, true],
  ] as const) {
    const { content } = linesOf(COMPACT_LOOK_BYTES - 1, sessions);
    const file = fileHolding(content);
    await append(file, pinOf("last", 1, { log: 9999 }));
    const { size } = statSync(file.path);
    assert.equal(size < content.length, isCompacted, `${sessions} sessions of ${lines} lines`);
  }
});

test("a large file is checked for compaction less often: after it has grown by about an eighth", async () => {
  let looks = 0;
  const files = new WatchedFiles();
  const file = new HeadFile(files.host, tempDirectory());
  const { content } = linesOf(4 * 1024 * 1024 - 1, 12_000);
  writeFileSync(file.path, content);
  for (let n = 0; n < 5; n++) {
    files.calls.length = 0;
    await append(
      file,
      ...Array.from({ length: 500 }, (_, m) =>
        pinOf(`t${n}-${m}`, 1, { log: 20_000 + 500 * n + m }),
      ),
    );
    if (files.made("read", "heads.jsonl").length > 8) looks++;
  }
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThan(4);
});

test("a file with a line that is not a pin is not compacted, since the line's meaning is unknown", async () => {
  const { content } = linesOf(COMPACT_LOOK_BYTES - 10, 3);
  const file = fileHolding(`{"v":2}\n${content}`);
  await append(file, pinOf("a", 1));
  assert.equal(readFileSync(file.path, "utf8"), `{"v":2}\n${content}${pinLine(pinOf("a", 1))}`);
});

test("a compaction that fails loses no pin", async () => {
  for (const call of ["open", "write", "sync", "rename", "syncDirectory"] as const) {
    const files = new WatchedFiles();
    files.before = (made) => {
      const isCompaction = made.name === "heads.jsonl.tmp" || made.call === "syncDirectory";
      if (isCompaction && made.call === call) throw errno("EIO");
      return undefined;
    };
    const { content } = linesOf(COMPACT_LOOK_BYTES - 1, 3);
    const file = fileHolding(content, files.host);
    await append(file, pinOf("last", 1, { log: 99 }));
    const pins = await pinsOf(file);
    assert.deepEqual(pins.at(-1), pinOf("last", 1, { log: 99 }), call);
  }
});

test("a temporary file left by a killed compaction is replaced by the next one", async () => {
  const { content } = linesOf(COMPACT_LOOK_BYTES - 1, 3);
  const file = fileHolding(content);
  writeFileSync(`${file.path}.tmp`, "half a");
  await append(file, pinOf("last", 1, { log: 99 }));
  assert.equal((await pinsOf(file)).length, 4);
  assert.deepEqual(readdirSync(join(file.path, "..")).sort(), ["heads.jsonl", "heads.lock"]);
});

test("a reader that has already begun is not affected by a compaction", async () => {
  const { content, pins } = linesOf(COMPACT_LOOK_BYTES - 1, 3);
  const file = fileHolding(content);
  const read: Pin[] = [];
  let compacted: Promise<void> | null = null;
  await file.read((pin) => {
    read.push(pin);
    compacted ??= append(file, pinOf("last", 1, { log: 99 }));
  });
  await compacted;
  expect(statSync(file.path).size).toBeLessThan(content.length / 2);
  assert.deepEqual(read, pins);
});

test("writers that waited for the lock while the file was replaced write to the new file", async () => {
  const { content } = linesOf(COMPACT_LOOK_BYTES - 1, 3);
  const file = fileHolding(content);
  const all = Array.from({ length: 20 }, (_, n) => pinOf(`w${n}`, n, { log: 100 + n }));
  await Promise.all(all.map((pin) => append(new HeadFile(nodeHost, join(file.path, "..")), pin)));
  const pins = await pinsOf(file);
  assert.equal(pins.length, 3 + all.length);
  for (const pin of all) assert.ok(pins.some(({ id }) => id === pin.id));
});

test("a deleted lock file is created again", async () => {
  const file = fileHolding("");
  await append(file, pinOf("a", 1));
  unlinkSync(join(file.path, "../heads.lock"));
  await append(file, pinOf("a", 2));
  assert.equal((await pinsOf(file)).length, 2);
});

test("a directory in place of the file, or a directory without write permission, is refused", async () => {
  const directory = tempDirectory();
  mkdirSync(join(directory, "heads.jsonl"));
  const file = new HeadFile(nodeHost, directory);
  await refusal(
    file.read(() => {}),
    "UNSAFE_PATH",
  );
  await expect(append(file, pinOf("a", 1))).rejects.toThrow();
  // Nothing can create a directory there, not even root.
  const readOnly = new HeadFile(nodeHost, "/sys/verbatim");
  assert.equal(await readOnly.read(() => {}), null);
  const { details } = await refusal(append(readOnly, pinOf("a", 1)), "IO_ERROR");
  expect(["EPERM", "EROFS", "EACCES"]).toContain(details.errno);
});

test("a hundred thousand lines are read quickly", async () => {
  const thousand = (first: number) =>
    Array.from({ length: 1000 }, (_, n) => pinLine(pinOf(`s${n}`, first + n))).join("");
  const file = fileHolding(thousand(0).repeat(99) + thousand(99_000));
  let [count, seq] = [0, 0];
  const bad = await file.read((pin) => {
    count++;
    if (pin.id === "s7") seq = pin.seq;
  });
  assert.deepEqual([bad, count, seq], [null, 100_000, 99_007]);
});
