/** Finding in raw bytes what is only visible in decoded text, and naming its bytes. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { allRules, mask, SecretFinder } from "./find-secrets.ts";
import { DEPTH_MAX, ESCAPE, TriggerSearch } from "./triggers.ts";
import { unescapeOnce } from "./unescape.ts";

const rules = await allRules();
const finder = new SecretFinder(rules);
/** Made here, so that no scanner finds it in this file. */
const TOKEN = ["gh", "p_"].join("") + "aB3dE6gH9jK2".repeat(3);
const ADDRESS = ["ada", "analytical.io"].join("@");

/** Every ASCII character as `\u00XX`. */
function hidden(text: string): string {
  return [...text].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join("");
}

function nested(text: string, levels: number): string {
  return levels === 0 ? text : nested(JSON.stringify({ input: text, n: 1 }), levels - 1);
}

/** The raw bytes of the only find, decoded as often as they were encoded. */
function foundIn(line: string): { rule: string; value: string; depth: number } {
  const finds = finder.find(line);
  assert.equal(finds.length, 1, JSON.stringify(finds));
  const { rule, start, end, depth } = finds[0] as (typeof finds)[number];
  let value = Buffer.from(line).subarray(start, end).toString();
  while (value.includes("\\")) value = unescapeOnce(value).text;
  return { rule, value, depth };
}

test("a value that is written with escapes is found, and its raw bytes are named", () => {
  for (const text of [hidden(TOKEN), `${hidden("g")}${TOKEN.slice(1)}`, `\\n${TOKEN}\\t`]) {
    const line = `{"é":"–","text":"${text}"}`;
    assert.deepEqual(foundIn(line), { rule: "github", value: TOKEN, depth: 1 });
  }
  const password = `https:\\/\\/ada:s3${"cret"}@corp.io`;
  for (let levels = 0; levels < 5; levels++) {
    assert.equal(foundIn(nested(`{"url":"${password}"}`, levels)).value, "s3cret");
  }
});

test("JSON inside JSON is decoded up to the limit of levels, and not one level further", () => {
  for (let levels = 1; levels <= DEPTH_MAX; levels++) {
    const line = nested(`\n${TOKEN}\n`, levels);
    assert.deepEqual(foundIn(line), { rule: "github", value: TOKEN, depth: levels });
  }
  assert.deepEqual(finder.find(nested(`\n${TOKEN}\n`, DEPTH_MAX + 1)), []);
});

test("literals hidden at any level are found", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: TOKEN.length, maxLength: TOKEN.length }),
      fc.integer({ min: 0, max: 3 }),
      (isHidden, levels) => {
        const text = [...TOKEN].map((char, n) => (isHidden[n] ? hidden(char) : char)).join("");
        assert.equal(foundIn(nested(`{"a":"${text}"}`, levels)).value, TOKEN);
      },
    ),
    { numRuns: 100 },
  );
});

test("where a value lies in a long line makes no difference", () => {
  const filler = "some words, ghp_ and token: and more; ".repeat(400);
  for (const at of [0, 1, 300, 321, 640, 4_000, 9_000, filler.length]) {
    const line = JSON.stringify({ text: `${filler.slice(0, at)} ${TOKEN} ${filler.slice(at)}` });
    assert.equal(foundIn(line).value, TOKEN, String(at));
  }
});

test("all values of a line are found, and lines at once are the same as each alone", () => {
  const lines = [ADDRESS, TOKEN, `${TOKEN} ${ADDRESS}`, "nothing"].map((text) => {
    return JSON.stringify({ text });
  });
  const alone = lines.flatMap((line) => finder.find(line).map(({ rule }) => rule));
  assert.deepEqual(alone, ["email", "github", "github", "email"]);
  const together = Buffer.from(`${lines.join("\n")}\n`);
  const finds = finder.findInLines(together);
  assert.deepEqual(
    finds.map(({ rule }) => rule),
    alone,
  );
  for (const { start, end } of finds) {
    assert.ok([ADDRESS, TOKEN].includes(together.toString("utf8", start, end)));
  }
});

test("a long value is not taken for a shorter one because a window ends in it", () => {
  const chars = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zCbDfGhJkLnMoPqRsTuVwXyZ";
  let state = 7;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return chars[Math.floor((state / 2 ** 31) * chars.length)];
  };
  const long = Array.from({ length: 300 }, next).join("");
  const short = long.slice(0, 40);
  for (let gap = 500; gap < 640; gap += 10) {
    const finds = finder.find(JSON.stringify({ text: `${short}${" ".repeat(gap)}${long}` }));
    assert.deepEqual(
      finds.map(({ rule, start, end }) => [rule, end - start]),
      [["high-entropy", 40]],
    );
  }
});

test("in base64, all characters that have bits of a value are named, and no others", () => {
  const finder = new SecretFinder(rules.filter(({ id }) => id === "github"));
  for (const before of ["value: ", "a value: ", "my value: "]) {
    const encoded = Buffer.from(`${before}${TOKEN} and more`).toString("base64");
    const [{ start, end } = { start: 0, end: 0 }] = finder.find(encoded);
    const [from, to] = [before.length, before.length + TOKEN.length];
    assert.deepEqual([start, end], [Math.floor((from * 4) / 3), Math.ceil((to * 4) / 3)]);
  }
});

test("bytes that are not UTF-8, or not JSON, are searched too", () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xe9, 0x80]), Buffer.from(TOKEN)]);
  assert.deepEqual(
    finder.find(bytes).map(({ start, end }) => [start, end]),
    [[3, bytes.length]],
  );
});

test("a mask has at most three first and two last characters, and a quarter of a value", () => {
  assert.equal(mask(TOKEN), "ghp…K2");
  assert.equal(mask("hunter2"), "h…");
  assert.equal(mask("abc"), "…");
  for (let length = 0; length < 60; length++) {
    const shown = mask("x".repeat(length)).length - 1;
    assert.ok(shown <= 5 && shown <= length / 4);
  }
});

test("every trigger is found that a search literal by literal finds", () => {
  const literals = rules.flatMap(({ near }, n) => {
    return near.filter((each) => !each.includes("\x01")).map((each) => [n + 1, each] as const);
  });
  const search = new TriggerSearch([ESCAPE, ...rules].map(({ near }) => ({ near })));
  const piece = fc.constantFrom(...literals.map(([, each]) => each), "e", "ss", "_", ":", "0");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = `{"${pieces.join("")}`;
      const found = new Set<string>();
      search.each(Buffer.from(text), (trigger, at) => {
        found.add(`${trigger}@${at}`);
      });
      for (const [trigger, literal] of literals) {
        for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) {
          assert.ok(found.has(`${trigger}@${at}`), `${literal} in ${text}`);
        }
      }
    }),
  );
});
