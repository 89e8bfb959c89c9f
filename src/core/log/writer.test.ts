import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WRITER_KINDS } from "../../../test/support/writer-kinds.ts";

test.for(WRITER_KINDS)("an append resolves to the offset after its line (%s)", async ([, kind]) => {
  const path = logHolding('{"n":0}\n');
  const log = await openWriter(path, kind);
  assert.equal(log.end, 8);

  assert.equal(await log.append(bytesOf('{"n":1}')), 16);
  assert.equal(await log.append(bytesOf("")), 17);
  assert.equal(await log.append(bytesOf('"é"')), 22);
  assert.equal(await log.appendLines(bytesOf("1\n2\n")), 26);
  assert.equal(log.end, 26);
  assert.equal(contentOf(path), '{"n":0}\n{"n":1}\n\n"é"\n1\n2\n');
});

test.for(WRITER_KINDS)(
  "64 appends at once land in the order of their calls (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const lines = Array.from({ length: 64 }, (_, n) => `{"n":${n},"pad":"${"x".repeat(n * 37)}"}`);
    const ends = await Promise.all(lines.map((line) => log.append(bytesOf(line))));

    assert.equal(contentOf(path), `${lines.join("\n")}\n`);
    let end = 0;
    for (const [n, line] of lines.entries()) {
      end += line.length + 1;
      assert.equal(ends[n], end);
    }
  },
);

test.for(WRITER_KINDS)(
  "lines and batches of lines keep the order of their calls (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const appended: Promise<unknown>[] = [];
    const expected: string[] = [];
    for (let n = 0; n < 30; n++) {
      const lines = Array.from({ length: n % 4 }, (_, k) => `${n}${k}\n`);
      expected.push(...lines, `${n}\n`);
      if (lines.length > 0) appended.push(log.appendLines(bytesOf(lines.join(""))));
      appended.push(log.append(bytesOf(`${n}`)));
      if (n % 10 === 9) await appended.at(-1);
    }
    await Promise.all(appended);

    assert.equal(contentOf(path), expected.join(""));
  },
);

test.for(WRITER_KINDS)(
  "a line that holds LF or NUL is refused and nothing is written (%s)",
  async ([, kind]) => {
    const path = logHolding("1\n");
    const log = await openWriter(path, kind);
    for (const [byte, reason] of [
      ["\n", "holds LF"],
      ["\0", "holds NUL"],
    ] as const) {
      for (const line of [byte, `${byte}a`, `a${byte}b`, `a${byte}`]) {
        const { details } = await refusal(log.append(bytesOf(line)), "INVALID_LINE");
        assert.deepEqual(details, { path, reason });
      }
    }
    await log.append(bytesOf("2"));
    assert.equal(contentOf(path), "1\n2\n");
  },
);

test("a plain Uint8Array, and a view of a larger one, are checked like a Buffer", async () => {
  const path = newLogPath();
  const log = await openWriter(path);
  const encode = (text: string) => new TextEncoder().encode(text);
  await refusal(log.append(encode("a\nb")), "INVALID_LINE");
  await refusal(log.append(encode("a\0b")), "INVALID_LINE");
  await refusal(log.appendLines(encode("a\0b\n")), "INVALID_LINE");
  const view = encode("\n\0good\0\n").subarray(2, 6);
  await log.append(view);
  await log.appendLines(encode("\0x\ny\n\0").subarray(1, 5));
  assert.equal(contentOf(path), "good\nx\ny\n");
});

test.for(WRITER_KINDS)(
  "lines that hold NUL or end without LF are all refused (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    for (const [lines, reason] of [
      ["", "ends without LF"],
      ["1", "ends without LF"],
      ["1\n2", "ends without LF"],
      ["1\n\0\n", "holds NUL"],
      ["\0\n", "holds NUL"],
    ] as const) {
      const { details } = await refusal(log.appendLines(bytesOf(lines)), "INVALID_LINE");
      assert.deepEqual(details, { path, reason });
    }
    assert.equal(contentOf(path), "");
  },
);

test.for(WRITER_KINDS)(
  "a caller may reuse its buffer as soon as append has returned (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const buffer = Buffer.alloc(6);
    const appended: Promise<unknown>[] = [];
    for (let n = 100; n < 150; n++) {
      buffer.write(`"${n}"\n`);
      appended.push(log.append(buffer.subarray(0, 5)), log.appendLines(buffer));
      buffer.fill(0);
    }
    await Promise.all(appended);

    const expected = Array.from({ length: 50 }, (_, n) => `"${100 + n}"\n"${100 + n}"\n`).join("");
    assert.equal(contentOf(path), expected);
  },
);

test.for(WRITER_KINDS)(
  "close waits for everything accepted, and may be called again (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    let acknowledged = 0;
    for (let n = 0; n < 20; n++) {
      void log.append(bytesOf(`${n}`)).then(() => acknowledged++);
    }
    const closings = [log.close(), log.close()];
    await Promise.all(closings);
    await log.close();

    assert.equal(acknowledged, 20);
    assert.equal(contentOf(path).split("\n").length, 21);
  },
);

test.for(WRITER_KINDS)(
  "a writer that is closed, or about to be, refuses appends (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const closing = log.close();

    for (const refused of [() => log.append(bytesOf("1")), () => log.appendLines(bytesOf("1\n"))]) {
      assert.deepEqual((await refusal(refused(), "LOG_CLOSED")).details, { path });
    }
    await refusal(log.flush(), "LOG_CLOSED");
    await closing;
    await refusal(log.append(bytesOf("1")), "LOG_CLOSED");
    assert.equal(contentOf(path), "");
  },
);

test.for(WRITER_KINDS)(
  "appended lines are there after reopening, and the next line follows them (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    for (let n = 0; n < 5; n++) {
      const log = await openWriter(path, kind);
      assert.equal(log.recovery.end, 2 * n);
      await log.append(bytesOf(`${n}`));
      await log.close();
    }
    assert.equal(contentOf(path), "0\n1\n2\n3\n4\n");
  },
);

test.for(WRITER_KINDS)(
  "a closed writer leaves no descriptor open, and neither does a refused one (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    await log.append(bytesOf("1"));
    await log.close();
    assert.deepEqual(openDescriptorsBelow(dirname(path)), []);

    const holder = await openWriter(path, { mode: "exclusive" });
    const held = openDescriptorsBelow(dirname(path));
    await refusal(openWriter(path, { ...kind, lockWaitMs: 0 }), "LOG_LOCKED");
    assert.deepEqual(openDescriptorsBelow(dirname(path)), held);
    await holder.close();
  },
);
