import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { indentedJson, jsonText } from "./text.ts";

test("JSON is the same as by JSON.stringify, compact and indented", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      assert.equal(jsonText(plain), JSON.stringify(plain));
      assert.equal(indentedJson(plain), JSON.stringify(plain, null, 2));
    }),
  );
});

test("a value nested deeper than any stack is printed (JT1)", () => {
  const depth = 100_000;
  const text = `{"a":${"[".repeat(depth)}1,{}${"]".repeat(depth)}}`;
  assert.equal(jsonText(JSON.parse(text)), text);
});

test("a value whose indented text would be too long is printed compactly (JT2)", () => {
  const value = [[1, 2], { a: 3 }];
  const indented = JSON.stringify(value, null, 2);
  assert.equal(indentedJson(value, indented.length), indented);
  assert.equal(indentedJson(value, indented.length - 1), '[[1,2],{"a":3}]');
});
