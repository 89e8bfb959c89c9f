/**
 * Our output compared with a real Python's: thousands of random values in one process.
 *
 * Without python3 on the PATH these tests are skipped; the golden files of python.test.ts and
 * markdown.test.ts, made with Python, still cover the behaviour.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { test } from "vitest";
import { hasProgram } from "../../../test/support/packages.ts";
import { readEnvelope } from "./envelope.ts";
import { type MarkdownOptions, pythonTitle, readPrinted, renderEvent } from "./markdown.ts";
import { pythonFixed, pythonJson, withPythonNumbers } from "./python.ts";
import { EVENT_TYPES } from "./vocabulary.ts";

const ORACLE = fileURLToPath(new URL("../../../test/golden/rye/oracle.py", import.meta.url));
const COUNT = 3000;

const hasPython = hasProgram("python3");

function askPython(questions: readonly object[]): readonly unknown[] {
  const { status, stdout, stderr } = spawnSync("python3", [ORACLE, "answer"], {
    input: JSON.stringify(questions),
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  assert.equal(status, 0, stderr);
  const answers = JSON.parse(stdout) as unknown[];
  assert.equal(answers.length, questions.length);
  return answers;
}

interface Comparison {
  readonly question: object;
  readonly ours: string;
}

/** Our answer to each question equals Python's. */
function agree(comparisons: readonly Comparison[]): void {
  const answers = askPython(comparisons.map(({ question }) => question));
  for (const [n, { question, ours }] of comparisons.entries()) {
    assert.equal(ours, answers[n], JSON.stringify(question));
  }
}

/** A line as it is read back from the log, which is what Python reads. */
function reread(text: string): unknown {
  return JSON.parse(text);
}

test.skipIf(!hasPython)("any number prints with Python's rounding", () => {
  const numbers = fc.sample(
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ noNaN: true, min: -100, max: 100 }),
      fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((n) => n / 32),
      fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 4),
      fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 1e5),
      fc.maxSafeInteger(),
    ),
    COUNT,
  );
  agree(
    numbers.flatMap((value) => {
      const json = JSON.stringify(value);
      const fixed = [1, 4].map((digits) => ({
        question: { ask: "fixed", json, digits },
        ours: pythonFixed(value, digits),
      }));
      return [...fixed, { question: { ask: "dumps", json }, ours: pythonJson(value) }];
    }),
  );
});

test.skipIf(!hasPython)("any JSON value prints as json.dumps(value, indent=2)", () => {
  const texts = fc
    .sample(fc.jsonValue({ stringUnit: "binary", maxDepth: 5 }), COUNT)
    .map((value) => JSON.stringify(value));
  agree(
    texts.map((json) => ({ question: { ask: "dumps", json }, ours: pythonJson(reread(json)) })),
  );
});

/** Numbers as Python and others spell them; JavaScript reads many of them as another's value. */
const SPELLINGS = fc.oneof(
  fc.constantFrom("30.0", "1e16", "1E16", "-0.0", "-0", "0.0", "1e-5", "100000000000000000.0"),
  fc.constantFrom("1.5e+300", "123456789012345.0", "1e22", "12345678901234567890", "1e400"),
  fc.bigInt(-(2n ** 90n), 2n ** 90n).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
  fc.integer().map((value) => `${value}.0`),
  fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -30, max: 30 })).map(([n, e]) => {
    return `${n}e${e}`;
  }),
);

test.skipIf(!hasPython)("any spelling of a number prints as Python prints it", () => {
  const spelt = fc.sample(SPELLINGS, COUNT);
  agree(
    spelt.flatMap((json) => {
      const [value] = (withPythonNumbers(`[${json}]`) ?? reread(`[${json}]`)) as [number];
      const event = `{"ts":"T","type":"step_finish","cost":{"spend":${json}},"tokens":{"input_tokens":${json}}}`;
      const all = { thinking: true, toolDetails: true, assistantMetadata: true };
      return [
        { question: { ask: "dumps", json }, ours: pythonJson(value) },
        { question: { ask: "fixed", json, digits: 4 }, ours: pythonFixed(value, 4) },
        { question: { ask: "render", json: event, ...all }, ours: rendered(event, all) },
      ];
    }),
  );
});

function rendered(line: string, options: MarkdownOptions): string {
  const { event, fault } = readPrinted(reread(line), Buffer.from(line));
  assert.equal(fault, null);
  return renderEvent(event, options);
}

test.skipIf(!hasPython)("any text has Python's title", () => {
  // Scripts whose case mapping has not changed in years, since Unicode versions may differ.
  const ranges = [
    [0x00, 0x19a],
    [0x19c, 0x24f],
    [0x300, 0x3ff],
    [0x400, 0x58f],
    [0x10d0, 0x10fa],
    [0x1e00, 0x1fff],
    [0xfb00, 0xfb17],
    [0x10400, 0x1044f],
    [0x1f600, 0x1f603],
  ] as const;
  const characters = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, n) => String.fromCodePoint(first + n)),
  );
  const texts = [
    ...characters.flatMap((character) => [character, `x${character}y`, `${character}X`]),
    ...fc.sample(
      fc.array(fc.constantFrom(...characters, "'", " ", "Σ")).map((all) => all.join("")),
      COUNT,
    ),
  ];
  agree(texts.map((text) => ({ question: { ask: "title", text }, ours: pythonTitle(text) })));
});

test.skipIf(!hasPython)(
  "any event of the twelve prints as the document's Python does (S2-7)",
  () => {
    const field = fc.oneof(fc.jsonValue({ stringUnit: "binary", maxDepth: 2 }), fc.string());
    const keys = ["directive", "model", "text", "tool", "input", "output", "error", "thread_id"];
    const numbers = [
      "input_tokens",
      "output_tokens",
      "spend",
      "turns",
      "tokens",
      "duration_seconds",
    ];
    const money = fc.dictionary(fc.constantFrom(...numbers), fc.oneof(fc.integer(), field));
    const events = fc.sample(
      fc.tuple(
        fc.constantFrom(...EVENT_TYPES),
        fc.dictionary(fc.constantFrom(...keys, "error_code", "detail"), field),
        fc.record({ cost: fc.oneof(money, field), tokens: fc.oneof(money, field) }),
        fc.record({ role: fc.oneof(fc.constantFrom("user", "SYSTEM", "a'b c"), fc.integer()) }),
      ),
      COUNT,
    );
    const texts = events.map(([type, ...data]) =>
      JSON.stringify(Object.assign({ ts: "T", type }, ...data)),
    );
    const options = [
      { thinking: true, toolDetails: true, assistantMetadata: true },
      { thinking: false, toolDetails: false, assistantMetadata: false },
    ] as const satisfies readonly MarkdownOptions[];
    agree(
      texts.flatMap((json) => {
        const { event, fault } = readEnvelope(reread(json));
        assert.equal(fault, null);
        return options.map((chosen) => ({
          question: { ask: "render", json, ...chosen },
          ours: renderEvent(event, chosen),
        }));
      }),
    );
  },
);
