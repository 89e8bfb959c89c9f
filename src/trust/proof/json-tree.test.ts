import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import {
  isJsonMap,
  JSON_LIMITS,
  JsonNumber,
  type JsonRefusal,
  type JsonTree,
  parseJson,
} from "./json-tree.ts";

/** A tree as JSON.parse would return it. */
function plain(tree: JsonTree): unknown {
  if (tree instanceof JsonNumber) return Number(tree.text);
  if (isJsonMap(tree))
    return Object.fromEntries([...tree].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(tree) ? tree.map(plain) : tree;
}

function refusalOf(input: string | Uint8Array): JsonRefusal | null {
  return parseJson(input).refusal;
}

function treeOf(input: string | Uint8Array): JsonTree {
  const { tree, refusal } = parseJson(input);
  assert.equal(refusal, null);
  return tree;
}

/** The result of JSON.parse; undefined when it throws. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Reasons to refuse what JSON.parse accepts. */
const OURS = ["duplicate key", "lone surrogate", "not finite", "number too long", "too deep"];

test("a text is parsed as by JSON.parse, or refused for a reason of ours", () => {
  // Texts near JSON: valid ones with a piece replaced by pieces of JSON.
  const piece = fc.constantFrom(
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "-",
    ".",
    "e",
    "+",
    " ",
    "\n",
    "\t",
    "\u0001",
    "\\u",
    "\\ud800",
    "\\udc00",
    "\\n",
    "\\x",
    "null",
    "tru",
    "NaN",
    "1e999",
    '"a":',
    "\ufeff",
    "\u007f",
    "\u00a0",
    "é",
    "\u{1f600}",
    "\ud800",
    "",
    "/",
    "'",
    "00",
    "//",
  );
  const near = fc
    .tuple(fc.json({ stringUnit: "binary" }), fc.array(fc.tuple(fc.nat(), fc.nat(2), piece)))
    .map(([text, edits]) =>
      edits.reduce((now, [at, cut, piece]) => {
        const place = at % (now.length + 1);
        return now.slice(0, place) + piece + now.slice(place + cut);
      }, text),
    );
  fc.assert(
    fc.property(
      fc.oneof(
        near,
        fc.array(piece).map((pieces) => pieces.join("")),
      ),
      (text) => {
        const theirs = parsed(text);
        const { tree, refusal } = parseJson(text);
        if (!refusal) assert.deepEqual({ value: plain(tree) }, theirs);
        else if (theirs) assert.ok(OURS.includes(refusal.reason), refusal.reason);
      },
    ),
    { numRuns: runs(5000) },
  );
});

test("a text and its bytes are read alike", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      assert.deepEqual(parseJson(Buffer.from(text)), parseJson(text));
    }),
  );
});

test("a text cut at any byte is refused", () => {
  const text = ' {"a\\n":[1,-2.5e+10,"é\u{1f600}\\ud83d\\ude00",{}],"b":{"c":[true,false,null]}}';
  const bytes = Buffer.from(text);
  assert.equal(refusalOf(bytes), null);
  for (let cut = 0; cut < bytes.length; cut++) {
    const refusal = refusalOf(bytes.subarray(0, cut));
    assert.ok(refusal && refusal.offset <= cut, `cut at ${cut}`);
    assert.match(refusal.reason, /^not (JSON|UTF-8)$/);
  }
});

test("a refusal says why and at which byte", () => {
  const cases: [string | Uint8Array, string, number][] = [
    ["", "not JSON", 0],
    ["[1,]", "not JSON", 3],
    ["[1 2]", "not JSON", 3],
    ['{"é":1,}', "not JSON", 8],
    ['{"é":1,"b" 2}', "not JSON", 12],
    ["[01]", "not JSON", 1],
    ["[1.]", "not JSON", 1],
    ["[-]", "not JSON", 1],
    ['["a\nb"]', "not JSON", 3],
    ['["\\x"]', "not JSON", 2],
    ['["\\u00g0"]', "not JSON", 2],
    ['"\\u12', "not JSON", 1],
    ["{} {}", "not JSON", 3],
    ["1\u00a0", "not JSON", 1],
    ['{"a":1,"b":2,"\\u0061":3}', "duplicate key", 13],
    ['{"é":1,"é":2}', "duplicate key", 8],
    ['["x","\\ud800"]', "lone surrogate", 5],
    ['["\\udc00\\ud800"]', "lone surrogate", 1],
    ['{"\\ud83d\\u0041":1}', "lone surrogate", 1],
    ['"\ud800"', "lone surrogate", 1],
    ["[NaN]", "not finite", 1],
    ["[-Infinity]", "not finite", 1],
    ["Infinity", "not finite", 0],
    ["[1,-1e999]", "not finite", 3],
    ["\ufeff{}", "byte order mark", 0],
    [Buffer.from("\ufeff{}"), "byte order mark", 0],
    [Buffer.from([0x22, 0xc3]), "not UTF-8", 2],
    [Buffer.from([0x22, 0xc3, 0x22]), "not UTF-8", 2],
    [Buffer.from([0x22, 0xc0, 0x80, 0x22]), "not UTF-8", 1],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "not UTF-8", 2],
    [Buffer.from([0x22, 0xf5, 0x22]), "not UTF-8", 1],
    // UTF-16, which Python would guess.
    [Buffer.from([0x7b, 0x00, 0x7d, 0x00]), "not JSON", 1],
  ];
  for (const [input, reason, offset] of cases) {
    assert.deepEqual(refusalOf(input), { reason, offset }, String(input));
  }
});

test("any bytes give a tree, or a refusal at an offset within them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const refusal = refusalOf(bytes);
      assert.ok(!refusal || refusal.offset <= bytes.length);
    }),
    { numRuns: 5000 },
  );
});

test("numbers keep their text, keys their names and their order", () => {
  const text =
    '{"z":1.0,"7":-0,"__proto__":{"a":1E+2},"b":[100000000000000000001,0.10],"":-0.0,"toString":1}';
  const tree = treeOf(text);
  assert.ok(isJsonMap(tree));
  assert.deepEqual([...tree.keys()], ["z", "7", "__proto__", "b", "", "toString"]);
  const numbers = [tree.get("z"), tree.get("7"), ...(tree.get("b") as JsonTree[]), tree.get("")];
  assert.deepEqual(
    numbers.map((number) => number instanceof JsonNumber && number.text),
    ["1.0", "-0", "100000000000000000001", "0.10", "-0.0"],
  );
  const inner = tree.get("__proto__");
  assert.ok(isJsonMap(inner) && inner.has("a"));
});

test("lists and objects nest 64 deep, and no deeper", () => {
  const { depthMax } = JSON_LIMITS;
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
    assert.equal(refusalOf(nested(depthMax)), null);
    const offset = depthMax * open.length;
    assert.deepEqual(refusalOf(nested(depthMax + 1)), { reason: "too deep", offset });
  }
  assert.equal(refusalOf(`[${"[[]],".repeat(1000)}[]]`), null, "depth is not count");
  assert.equal(refusalOf("[".repeat(5_000_000))?.reason, "too deep");
});

test("a number has at most 4300 characters, not counting its sign", () => {
  const { numberCharsMax } = JSON_LIMITS;
  const digits = "9".repeat(numberCharsMax);
  for (const longest of [digits, `-${digits}`, `-1.${"0".repeat(numberCharsMax - 2)}`]) {
    assert.equal(refusalOf(`[${longest}]`), null);
    assert.deepEqual(refusalOf(`[${longest}0]`), { reason: "number too long", offset: 1 });
  }
  assert.equal(refusalOf("1".repeat(10_000_000))?.reason, "number too long");
});

test("a text has at most 16 MiB of UTF-8", () => {
  const { bytesMax } = JSON_LIMITS;
  const longest = `"é${"x".repeat(bytesMax - 4)}"`;
  assert.equal(Buffer.byteLength(longest), bytesMax);
  const refusal = { reason: "too long", offset: bytesMax };
  for (const input of [longest, Buffer.from(longest)]) assert.equal(refusalOf(input), null);
  for (const input of [`${longest} `, Buffer.from(`${longest} `)]) {
    assert.deepEqual(refusalOf(input), refusal);
  }
});

test("a JsonNumber that is not a JSON number cannot be made", () => {
  const broken = ["", "01", "1.", "+1", "NaN", "1e999", "1 ", "1".repeat(4301)];
  for (const text of broken) assert.throws(() => new JsonNumber(text), /misused/);
});
