/** JSON messages are slices of the source text; compared with JSON.parse of the same text. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { APPEND_MESSAGES_MAX, MESSAGE_DEPTH_MAX } from "../../core/base/limits.ts";
import { asOneMessage, jsonMessages } from "./json-messages.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Whitespace that JSON allows between tokens. */
const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });

/** JSON text with spellings that no serialiser writes but a client may send. */
const { value: jsonText } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("1.0", "1e400", "-0", "12345678901234567890", "1E+2", "0.10", "true", "null"),
    fc.constantFrom('"\\u0041"', '"\\n"', '"\\\\"', '"\\""', '"[,]{}"', '"\\\\\\""', '"é💥\u2028"'),
    fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    tie("array"),
    tie("object"),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie("value"), space), { maxLength: 4 }))
    .map(([empty, all]) => `[${all.length === 0 ? empty : all.map((e) => e.join("")).join(",")}]`),
  object: fc
    .tuple(
      space,
      fc.array(fc.tuple(space, fc.constantFrom("k", "k", "a"), space, tie("value"), space)),
    )
    .map(([empty, all]) => {
      const members = all.map(([s, key, t, value, u]) => `${s}"${key}"${t}:${u}${value}`);
      return `{${all.length === 0 ? empty : members.join(",")}}`;
    }),
}));
const posted = fc.tuple(space, jsonText, space).map((parts) => parts.join(""));

test("stored messages parse to the posted value, an array to its elements", () => {
  fc.assert(
    fc.property(posted, (text) => {
      const lines = linesOf(text);
      const value: unknown = JSON.parse(text);
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        Array.isArray(value) ? value : [value],
      );
    }),
    { numRuns: 3000 },
  );
});

test("stored messages are the posted text without line breaks and without the array around them", () => {
  // Method: with whitespace removed from both, the lines joined by commas equal the source.
  fc.assert(
    fc.property(posted, (text) => {
      const joined = linesOf(text).join(",");
      const isArray = Array.isArray(JSON.parse(text));
      assert.equal(bare(isArray ? `[${joined}]` : joined), bare(text));
      // A body that is not an array loses only CR and LF.
      if (!isArray) assert.equal(joined, text.replace(/[\r\n]/g, ""));
    }),
    { numRuns: 3000 },
  );
});

test("numbers, key order, duplicate keys, escapes and inner spaces are stored as sent", () => {
  const text = '{"b":1.0,"a":12345678901234567890,"a2":1e400,"k":1,"k":2, "e":"\\u00e9\\/" }';
  assert.deepEqual(linesOf(text), [text]);
  assert.deepEqual(linesOf(`[${text}, ${text}]`), [text, text]);
  assert.deepEqual(linesOf(`  ${text}\r\n`), [`  ${text}`]);
});

test("an array is flattened by one level", () => {
  assert.deepEqual(linesOf("[]"), []);
  assert.deepEqual(linesOf(" [ \n ] "), []);
  assert.deepEqual(linesOf("[[1,2],[3]]"), ["[1,2]", "[3]"]);
  assert.deepEqual(linesOf("[[]]"), ["[]"]);
  assert.deepEqual(linesOf('[ 1 ,\t"a,]" ,\n{"b" : [ 1 , 2 ]} ]'), [
    "1",
    '"a,]"',
    '{"b" : [ 1 , 2 ]}',
  ]);
});

test("a body that is not UTF-8 JSON is refused, and the error quotes nothing of it", () => {
  const notJson = [
    "",
    " ",
    "\n",
    "{",
    "[1,]",
    "1 2",
    "'secret'",
    "NaN",
    "\ufeff1",
    '"\n"',
    '"\0"',
    "[1]x",
  ];
  for (const text of notJson) {
    const error = thrownRefusal(() => jsonMessages(encoder.encode(text), "/s"), "BAD_MESSAGE");
    assert.equal(error.details.reason, "not JSON");
    assert.ok(!error.message.includes("secret") && error.cause === undefined);
  }
  const halves = [
    [0x22, 0xc3, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xff, 0x22],
  ];
  for (const bytes of halves) {
    const refused = () => jsonMessages(Uint8Array.from(bytes), "/s");
    assert.equal(thrownRefusal(refused, "BAD_MESSAGE").details.reason, "not UTF-8");
  }
});

test("a text cut at any byte is refused or stored unchanged", () => {
  const whole = encoder.encode('[{"é":"\\"]"}, [1.50,[]] ,"💥"]\n');
  for (let cut = 0; cut < whole.length; cut++) {
    const text = whole.subarray(0, cut);
    if (cut === whole.length - 1) assert.equal(jsonMessages(text, "/s").lengths.length, 3);
    else thrownRefusal(() => jsonMessages(text, "/s"), "BAD_MESSAGE");
  }
});

test("the text may be a part of a larger buffer, and is not changed", () => {
  const whole = Buffer.from("x[1,\n2]x");
  const { bytes } = jsonMessages(whole.subarray(1, -1), "/s");
  assert.equal(decoder.decode(bytes), "1\n2\n");
  assert.equal(whole.toString(), "x[1,\n2]x");
});

test("a message may nest as deep as the limit, alone or in an array, and no deeper", () => {
  const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => `${'{"[[":'.repeat(depth)}1${"}".repeat(depth)}`;
  const atLimit = arrays(MESSAGE_DEPTH_MAX);
  assert.deepEqual(linesOf(`[${atLimit},1,${atLimit}]`), [atLimit, "1", atLimit]);
  const object = objects(MESSAGE_DEPTH_MAX);
  assert.deepEqual(linesOf(object), [object]);
  assert.deepEqual(linesOf(`[${object}]`), [object]);
  assert.equal(asOneMessage(encoder.encode(atLimit), "/s").length, atLimit.length + 2);

  const array = arrays(MESSAGE_DEPTH_MAX + 1);
  const past = objects(MESSAGE_DEPTH_MAX + 1);
  // Far past the limit, the text is refused before it is parsed, and need not be JSON.
  for (const text of [`[${array}]`, past, `[1,${past}]`, "[".repeat(1e6)]) {
    const refused = () => jsonMessages(encoder.encode(text), "/s");
    assert.equal(thrownRefusal(refused, "BAD_MESSAGE").details.reason, "nested too deep");
  }
  const refused = () => asOneMessage(encoder.encode(array), "/s");
  assert.equal(thrownRefusal(refused, "BAD_MESSAGE").details.reason, "nested too deep");
});

test("brackets inside strings, and siblings, do not count as nesting", () => {
  const flat = JSON.stringify(["[{".repeat(MESSAGE_DEPTH_MAX), '"\\"[{'.repeat(MESSAGE_DEPTH_MAX)]);
  assert.deepEqual(linesOf(`[${flat}]`), [flat]);
  const wide = `[${"[],{},".repeat(MESSAGE_DEPTH_MAX)}1]`;
  assert.deepEqual(linesOf(`[${wide}]`), [wide]);
});

test("an append may hold as many messages as the limit, and no more", () => {
  const many = (count: number) => encoder.encode(`[${"1,".repeat(count - 1)}1]`);
  assert.equal(jsonMessages(many(APPEND_MESSAGES_MAX), "/s").lengths.length, APPEND_MESSAGES_MAX);
  const refused = () => jsonMessages(many(APPEND_MESSAGES_MAX + 1), "/s");
  const { details } = thrownRefusal(refused, "TOO_MANY_MESSAGES");
  assert.deepEqual(details, { stream: "/s", messagesMax: APPEND_MESSAGES_MAX });
  // An array that is one message may have more elements.
  const one = many(APPEND_MESSAGES_MAX + 1);
  assert.equal(jsonMessages(asOneMessage(one, "/s"), "/s").lengths.length, 1);
});

test("a long text that ends within a string is refused", () => {
  for (const end of ["", "\\", '\\"']) {
    const text = encoder.encode(`[${"[],".repeat(MESSAGE_DEPTH_MAX + 1)}"${end}`);
    thrownRefusal(() => jsonMessages(text, "/s"), "BAD_MESSAGE");
  }
});

/** The stored lines; each must be one line of the reported length. */
function linesOf(text: string): string[] {
  const { bytes, lengths } = jsonMessages(encoder.encode(text), "/s");
  const lines: string[] = [];
  let from = 0;
  for (const length of lengths) {
    const line = decoder.decode(bytes.subarray(from, from + length));
    assert.ok(!/[\r\n]/.test(line.slice(0, -1)) && line.endsWith("\n"));
    lines.push(line.slice(0, -1));
    from += length;
  }
  assert.equal(from, bytes.length);
  return lines;
}

/** Without whitespace between tokens. */
function bare(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, "$1");
}
