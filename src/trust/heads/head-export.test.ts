import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pinOf } from "../../../test/support/pins.ts";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { PinBook } from "../proof/pins.ts";
import { exportLines, PIN_FILE_BYTES_MAX, parsePins, readPinFile } from "./head-export.ts";
import { PIN_LINE_BYTES_MAX, pinLine } from "./head-file.ts";

test("an export holds the current pins: no forgotten sessions and no replaced heads", () => {
  const book = new PinBook();
  const moved = pinOf("a", 2, { log: 2 });
  const accepted = pinOf("b", 3, { log: 3 }, "accepted");
  for (const pin of [
    pinOf("a", 1),
    pinOf("a", 4),
    moved,
    pinOf("b", 9, { log: 3 }),
    accepted,
    pinOf("c", 1, { log: 4 }),
    pinOf("c", 1, { log: 4 }, "forgotten"),
  ]) {
    book.add(pin);
  }
  const text = [...exportLines(book)].join("");
  assert.deepEqual(parsePins(Buffer.from(text), "export"), [pinOf("a", 4), moved, accepted]);
});

test("an exported file is read whole, with or without its last LF, and an empty one holds no pins", async () => {
  const path = join(tempDirectory(), "pins");
  const pins = [pinOf("a", 1), pinOf("b", 2)];
  const text = pins.map(pinLine).join("");
  for (const [content, expected] of [
    [text, pins],
    [text.trimEnd(), pins],
    ["", []],
  ] as const) {
    writeFileSync(path, content);
    assert.deepEqual(await readPinFile(nodeHost, path), expected);
  }
});

test("if one line is not a pin, the whole file is refused", () => {
  const good = pinLine(pinOf("a", 1));
  for (const [bad, reason] of [
    ["\n", "blank"],
    ["{}\n", "without v"],
    ["x\n", "not JSON"],
    [`${"x".repeat(PIN_LINE_BYTES_MAX + 1)}\n`, "too long"],
    [good.slice(0, 40), "not JSON"],
    [good.replace('"v":1', '"v":2'), "of a newer version"],
    [good.replace("{", '{"__proto__":1,'), "with an unknown field"],
  ] as const) {
    const { details } = thrownRefusal(() => parsePins(Buffer.from(good + bad), "file"), "BAD_LINE");
    assert.deepEqual(details, { path: "file", line: 2, offset: good.length, reason });
  }
  const error = thrownRefusal(() => parsePins(Buffer.from(`"secret"\n`), "file"), "BAD_LINE");
  expect(error.message).not.toContain("secret");
});

test("a file larger than any export is refused without reading past the limit", async () => {
  const path = join(tempDirectory(), "pins");
  writeFileSync(path, "");
  truncateSync(path, PIN_FILE_BYTES_MAX + 1);
  await refusal(readPinFile(nodeHost, path), "PIN_FILE_TOO_LARGE");
  truncateSync(path, PIN_FILE_BYTES_MAX);
  const { details } = await refusal(readPinFile(nodeHost, path), "BAD_LINE");
  assert.equal(details.reason, "too long");
});

test("a missing file, a link and a directory are refused", async () => {
  const directory = tempDirectory();
  const missing = await refusal(readPinFile(nodeHost, join(directory, "none")), "IO_ERROR");
  assert.equal(missing.details.errno, "ENOENT");
  writeFileSync(join(directory, "real"), "");
  symlinkSync(join(directory, "real"), join(directory, "link"));
  await refusal(readPinFile(nodeHost, join(directory, "link")), "UNSAFE_PATH");
  mkdirSync(join(directory, "folder"));
  await refusal(readPinFile(nodeHost, join(directory, "folder")), "UNSAFE_PATH");
});
