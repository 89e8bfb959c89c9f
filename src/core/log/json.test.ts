import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { decodeLine, encodeLine } from "./json.ts";

function text(value: unknown): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(encodeLine(value));
}

function decoded(line: string | Uint8Array) {
  const bytes = Buffer.from(line);
  return decodeLine(bytes, 0, bytes.length);
}

test("control characters and line separators are escaped, and all other characters are plain UTF-8", () => {
  // Method: every character of the basic plane, and the edges of the others.
  const escapes = new Map([
    [0x08, "\\b"],
    [0x09, "\\t"],
    [0x0a, "\\n"],
    [0x0c, "\\f"],
    [0x0d, "\\r"],
    [0x22, '\\"'],
    [0x5c, "\\\\"],
  ]);
  const isEscaped = (code: number) =>
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    (code >= 0xd800 && code <= 0xdfff);
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const hex = `\\u${code.toString(16).padStart(4, "0")}`;
    const expected = escapes.get(code) ?? (isEscaped(code) ? hex : character);
    assert.equal(text(character), `"${expected}"`, hex);
  }
  for (const character of ["😀", "\u{10000}", "\u{10ffff}"]) {
    assert.equal(text(character), `"${character}"`);
  }
});

test("half of a surrogate pair is escaped, and parsed back unchanged", () => {
  for (const half of ["\ud83d", "a\ude00b", "\ude00\ud83d", "😀\ud83d"]) {
    assert.ok(!text(half).includes("\ufffd"));
    assert.equal(decoded(encodeLine(half)).value, half);
  }
});

test("a line is compact JSON without a line break", () => {
  assert.equal(text({ a: [1, { b: null }], c: "x\ny" }), '{"a":[1,{"b":null}],"c":"x\\ny"}');
  assert.ok(!encodeLine({ "\n\u0000": "\r\n\u2028" }).some((byte) => byte < 0x20));
});

test("keys are escaped as values are", () => {
  assert.equal(text({ "\u0085\u2028": 1 }), '{"\\u0085\\u2028":1}');
});

test("a value that JSON cannot represent is refused", () => {
  const itself: unknown[] = [];
  itself.push(itself);
  for (const value of [undefined, () => 1, Symbol("s"), 1n, itself]) {
    thrownRefusal(() => encodeLine(value), "INVALID_ENTRY");
  }
});

test("any JSON value is read back from its line, which is one line of safe UTF-8", () => {
  const string = fc.string({ unit: fc.integer({ max: 0xffff, min: 0 }).map(fromCode) });
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.jsonValue({ stringUnit: "binary" }), string),
      (value) => {
        const line = encodeLine(value);
        assert.ok(!line.includes(0x0a) && !line.includes(0));
        assert.deepEqual(decodeLine(Buffer.from(line), 0, line.length), {
          value: JSON.parse(JSON.stringify(value)) as unknown,
          fault: null,
        });
      },
    ),
    { numRuns: 400 },
  );
});

test("a line that is not UTF-8 is reported as such, and no replacement character is returned", () => {
  for (const bytes of [
    [0xff],
    [0xc3],
    [0xc3, 0x28],
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf5, 0x80, 0x80, 0x80],
    [0xe6, 0x97],
  ]) {
    const line = Buffer.concat([Buffer.from('"'), Buffer.from(bytes), Buffer.from('"')]);
    assert.deepEqual(decoded(line), { value: undefined, fault: "not UTF-8" });
  }
});

test("a replacement character that is in the file is read", () => {
  assert.deepEqual(decoded('"a\ufffdb"'), { value: "a\ufffdb", fault: null });
});

test("a line with NUL is reported as such, whatever else is wrong with it", () => {
  for (const line of ["\0", '{"a":"\0"}', "{}\0", "\0{}", "not json\0"]) {
    assert.deepEqual(decoded(line), { value: undefined, fault: "holds NUL" });
  }
  // A hole of NULs that begins inside a character.
  const hole = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xc3, 0, 0, 0)]);
  assert.deepEqual(decoded(hole), { value: undefined, fault: "holds NUL" });
});

test("a line of white space only is reported as blank", () => {
  for (const line of ["", " ", "\r", " \t\r"]) {
    assert.deepEqual(decoded(line), { value: undefined, fault: "blank" });
  }
});

test("a line that is not JSON, or begins with a byte order mark, is reported as such", () => {
  for (const line of ["{", "{}{}", "nul", "'a'", "\ufeff{}", "{}\u2028", "NaN"]) {
    assert.deepEqual(decoded(line), { value: undefined, fault: "not JSON" });
  }
});

test("a line is the output of JSON.stringify, except for escapes", () => {
  const plain = fc.dictionary(
    fc.string(),
    fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.object()),
  );
  fc.assert(
    fc.property(fc.oneof(plain, fc.jsonValue(), fc.object({ withDate: true })), (value) => {
      const escaped = JSON.stringify(value).replace(
        /[\u007f-\u009f\u2028\u2029]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      assert.equal(new TextDecoder().decode(encodeLine(value)), escaped);
    }),
    { numRuns: 3000 },
  );
});

test("a line is decoded within its bounds only", () => {
  const bytes = Buffer.from('xx{"a":1}yy');
  assert.deepEqual(decodeLine(bytes, 2, 9), { value: { a: 1 }, fault: null });
});

function fromCode(code: number): string {
  return String.fromCharCode(code);
}
