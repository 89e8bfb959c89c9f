import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { parseQuery } from "./query.ts";
import { snippetOf } from "./snippet.ts";

function shown(text: string, query: string): string {
  const { terms } = parseQuery(query, { nowMs: 0, dialects: [] });
  const pieces = snippetOf(text, terms);
  return pieces.map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join("");
}

test("hits are marked in the original text, whatever their case and accents", () => {
  assert.equal(shown("The Été of  a\n cook", "ete cook"), "The [Été] of a [cook]");
  assert.equal(shown("on port-80, port 80", '"port 80"'), "on [port-80], [port 80]");
  assert.equal(shown("connect conn reconnect", "conn*"), "[connect] [conn] reconnect");
  assert.equal(shown("我在日本语", "日本"), "我在[日本]语");
  assert.equal(shown("nothing of it", "role:user"), "nothing of it");
});

test("omissions between and around the hits are marked", () => {
  const far = "x ".repeat(200);
  const snippet = shown(`${far}one ${far}two ${far}`, "one two");
  assert.match(snippet, /^….+\[one\].+ … .+\[two\].+…$/);
  assert.ok(snippet.length < 300);
});

test("for any text and query, the pieces are text of the entry with whole characters", () => {
  const word = fc.constantFrom("one", "two", "日", "é", "😀", "\u0301", "\ud800", "\n", "…");
  const text = fc.array(fc.oneof(word, fc.string({ unit: "binary", maxLength: 30 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      text.map((words) => words.join(" ")),
      fc.constantFrom("one", "one two", "tw*", '"one two"', "日"),
      (text, query) => {
        const { terms } = parseQuery(query, { nowMs: 0, dialects: [] });
        const pieces = snippetOf(text, terms);
        const whole = text.toWellFormed().replace(/\s+/g, " ");
        for (const { text, isHit } of pieces) {
          assert.equal(text, text.toWellFormed());
          const parts = isHit ? [text] : text.split(/ ?… ?/);
          for (const part of parts) assert.ok(whole.includes(part), JSON.stringify(part));
        }
      },
    ),
  );
});

test("hits after the shown text do not change it, and those inside it are marked", () => {
  const gap = "x ".repeat(60);
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("one", "two", "three", gap), { maxLength: 12 }),
      fc.array(fc.constantFrom("one", "two", "y"), { minLength: 1 }),
      fc.constantFrom("one", "one two", '"one two" three', "tw* one"),
      (words, tail, query) => {
        const text = `one two three ${words.join(" ")} ${gap}`;
        assert.equal(shown(`${text} ${tail.join(" ")}`, query), shown(`${text} y`, query));
      },
    ),
  );
  assert.equal(shown(`one two one ${gap}one`, "one").match(/\[one\]/g)?.length, 2);
  assert.equal(shown(`one ${gap}two one ${gap}`, "one two").match(/\[one\]/g)?.length, 2);
});
