/** Our output compared with golden files made in Python: test/golden/rye/oracle.py. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { pythonTitle } from "./markdown.ts";
import {
  compactJson,
  INDENTED_CHARS_MAX,
  isTruthy,
  printValue,
  pythonFixed,
  pythonJson,
  pythonJsonFile,
} from "./python.ts";

interface Question {
  readonly ask: "fixed" | "dumps" | "title" | "truth" | "created";
  readonly json: string;
  readonly digits: number;
  readonly text: string;
  readonly answer: unknown;
}

const GOLDEN = new URL("../../../test/golden/rye/values.json", import.meta.url);
const questions = JSON.parse(readFileSync(GOLDEN, "utf8")) as Question[];

function asked(what: Question["ask"]): Question[] {
  const found = questions.filter(({ ask }) => ask === what);
  assert.notEqual(found.length, 0);
  return found;
}

test("a number with fixed digits prints as Python rounds it, ties to even (S2-7)", () => {
  for (const { json, digits, answer } of asked("fixed")) {
    assert.equal(pythonFixed(JSON.parse(json), digits), answer, `${json} to ${digits} digits`);
  }
  assert.equal(pythonFixed(0.25, 1), "0.2");
  assert.equal(pythonFixed(0.5, 0), "0");
  assert.equal(pythonFixed(Number.NaN, 4), "nan");
});

test("a value prints as json.dumps(value, indent=2) does (S2-7)", () => {
  for (const { json, answer } of asked("dumps")) {
    assert.equal(pythonJson(JSON.parse(json)), answer, json);
  }
});

test("minus zero prints as it is in our line", () => {
  assert.equal(pythonJson(-0), "0");
  assert.equal(pythonFixed(-0, 4), "0.0000");
  assert.equal(JSON.stringify(-0), "0");
});

test("a role's title is the same as Python's (S2-7)", () => {
  for (const { text, answer } of asked("title")) assert.equal(pythonTitle(text), answer, text);
});

test("values are truthy when Python's are (S2-7)", () => {
  for (const { json, answer } of asked("truth")) {
    assert.equal(isTruthy(JSON.parse(json)), answer, json);
  }
  assert.equal(isTruthy(undefined), false);
  assert.equal(isTruthy(Number.NaN), true);
});

test("in text fields, null and absent print nothing and other values print compact JSON", () => {
  assert.equal(printValue(null), "");
  assert.equal(printValue(undefined), "");
  assert.equal(printValue("é"), "é");
  assert.equal(printValue(true), "true");
  assert.equal(printValue(0.00001), "1e-05");
  assert.equal(printValue({ é: [1, null, "\n"], n: {} }), '{"é":[1,null,"\\n"],"n":{}}');
});

test("a file's text holds no Infinity, which JSON parsers refuse", () => {
  const value = { spend: JSON.parse("1e999"), nested: [Number.NaN] };
  assert.match(pythonJson(value), /Infinity/);
  assert.deepEqual(JSON.parse(pythonJsonFile(value)), { spend: null, nested: [null] });
  assert.deepEqual(JSON.parse(pythonJsonFile(value, 10)), { spend: null, nested: [null] });
});

test("text of the largest length is indented, and one character more is compact", () => {
  const value = ["", [1]];
  const { length } = pythonJson(value);
  assert.equal(pythonJson(value, length), '[\n  "",\n  [\n    1\n  ]\n]');
  assert.equal(pythonJson(value, length - 1), '["",[1]]');

  const room = INDENTED_CHARS_MAX - '[\n  ""\n]'.length;
  assert.equal(pythonJson(["x".repeat(room)]).length, INDENTED_CHARS_MAX);
  assert.equal(pythonJson(["x".repeat(room + 1)]).length, room + 1 + '[""]'.length);
});

test("a value nested a hundred thousand levels deep prints in compact form", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  assert.equal(pythonJson(deep).length, 200_000);
  assert.equal(compactJson(deep).length, 200_000);
});

test("undefined prints as in JSON.stringify, and a bigint prints its digits", () => {
  assert.equal(compactJson({ a: undefined, b: [undefined], c: 1n }), '{"b":[null],"c":1}');
});
