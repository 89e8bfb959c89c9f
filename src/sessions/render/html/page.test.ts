import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { anyText } from "../../../../test/e2e/any-text.ts";
import { entriesWith, pageWith } from "../../../../test/e2e/hostile-page.ts";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { XSS_CORPUS } from "../../../../test/e2e/xss-corpus.ts";
import { runs } from "../../../../test/support/seed.ts";
import { emptyEntry, type Part } from "../../../core/model/entry.ts";
import { pageText } from "./markup.ts";
import { type PageFacts, SessionPage } from "./page.ts";
import { STYLE_HASH } from "./style.ts";

const FACTS: PageFacts = {
  session: "hello-1",
  dialect: "rye",
  title: "Fix it",
  agent: "fixer",
  project: null,
  directory: null,
  branch: null,
  model: "m",
  status: "completed",
  turns: 1200,
  inputTokens: 1000,
  outputTokens: 234,
  totalTokens: 1234,
  spend: 0.5,
  createdAt: "2026-02-09T04:03:50.365Z",
  updatedAt: "2026-02-09T06:09:00.000Z",
  lines: 9,
  last: null,
};

function headOf(facts: Partial<PageFacts>): ParsedHtml {
  return ParsedHtml.page(new SessionPage({ ...FACTS, ...facts }).head());
}

test("the head shows the session's facts", () => {
  const head = headOf({});
  assert.deepEqual(head.named("title"), ["Fix it"]);
  assert.deepEqual(head.named("h1"), ["Fix it"]);
  assert.deepEqual(head.withClass("session"), ["hello-1"]);
  assert.deepEqual(
    head.named("dt").map((name, at) => `${name}: ${head.named("dd")[at]}`),
    [
      "Status: completed",
      "Agent: fixer",
      "Model: m",
      "Turns: 1,200",
      "Tokens: 1,234 1,000 in, 234 out",
      "Cost: $0.5000",
      "Began: 2026-02-09 04:03:50",
      "Last entry: 2026-02-09 06:09:00",
      "Took: 2 h 5 min",
      "Lines: 9",
    ],
  );
});

test("unknown facts are not in the head, and a session without a title shows its id", () => {
  const unknown = Object.fromEntries(Object.keys(FACTS).map((name) => [name, null]));
  const head = headOf({ ...unknown, session: "s", dialect: "rye", last: 20 });
  assert.deepEqual(head.named("dt"), []);
  assert.deepEqual(head.named("h1"), ["s"]);
  assert.deepEqual(head.withClass("note"), ["Only the last 20 entries are in this page."]);
});

test("a session's duration is in the two largest units", () => {
  const took = (seconds: number) => {
    const updatedAt = new Date(Date.parse(FACTS.createdAt ?? "") + seconds * 1000).toISOString();
    const head = headOf({ updatedAt });
    return head.named("dd")[head.named("dt").indexOf("Took")];
  };
  assert.deepEqual([0, 1, 59, 60, 61, 3600, 3661, 86_400, 90_000].map(took), [
    undefined,
    "1 s",
    "59 s",
    "1 min",
    "1 min 1 s",
    "1 h",
    "1 h 1 min",
    "1 d",
    "1 d 1 h",
  ]);
});

test("the page's policy forbids everything it does not need, before any text of the session (PA1)", () => {
  const head = new SessionPage(FACTS).head();
  const { elements } = ParsedHtml.page(head);
  const metas = elements
    .filter(({ tagName }) => tagName === "meta")
    .map(({ attrs }) => attrs.map(({ value }) => value));
  assert.deepEqual(metas[0], ["utf-8"]);
  const [header, policy = ""] = metas[1] ?? [];
  assert.equal(header, "Content-Security-Policy");
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `style-src '${STYLE_HASH}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  assert.deepEqual(metas[3], ["referrer", "no-referrer"]);
  assert.ok(head.indexOf("<meta charset") < 100);
  assert.equal(elements.filter(({ tagName }) => tagName === "style").length, 1);
});

test("bad lines are shown in place, and entries that are not shown are counted (PA2)", () => {
  const page = new SessionPage(FACTS);
  const bad = ParsedHtml.fragment(
    page.badLines({
      listed: [
        { line: 4, offset: 40, reason: "not JSON" },
        { line: null, offset: 50, reason: "too long" },
      ],
      more: 1200,
    }),
  );
  assert.deepEqual(
    bad.withClass("bad").map((text) => text.trim()),
    [
      "Bad line 4: not JSON. It is kept in the log.#4",
      "Bad line at byte 50: too long. It is kept in the log.#",
      "And 1,200 more bad lines",
    ],
  );
  assert.equal(page.entry({ ...emptyEntry({}), start: 0, line: 1 }), "");
  assert.equal(page.entry({ ...emptyEntry({}), kind: "turn_start", start: 0, line: 1 }), "");
  assert.equal(page.unshown, 1);
  const { text } = ParsedHtml.fragment(page.foot({ tornBytes: 3 }));
  assert.ok(text.includes("1 entry says nothing that can be shown."));
  assert.ok(text.includes("1,202 lines of the log could not be read."));
  assert.ok(text.includes("the log holds 3 torn bytes, left by a crash."));
});

test("a page of many lines is laid out as it is scrolled to", () => {
  const isLong = (facts: Partial<PageFacts>) =>
    headOf(facts).elements.some(
      ({ tagName, attrs }) => tagName === "body" && attrs.some(({ value }) => value === "long"),
    );
  assert.deepEqual([{ lines: 500 }, { lines: 501 }, { lines: null, last: 501 }].map(isLong), [
    false,
    true,
    true,
  ]);
});

test("hostile text in every field gives no element or attribute that is not ours", () => {
  for (const text of XSS_CORPUS) {
    const page = ParsedHtml.page(pageWith(text));
    assert.deepEqual(page.faults, [], text);
    assert.ok(page.text.includes(pageText(text)), text);
  }
});

test("any text in any field gives valid pages with that text in them", () => {
  const text = fc.oneof(
    anyText,
    fc
      .array(fc.constantFrom("<", ">", "&", '"', "'", "`", "\n", "a", "]]>", "--", "/", "="))
      .map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(text, (value) => {
      const content = pageWith(value);
      assert.ok(content.isWellFormed());
      const page = ParsedHtml.page(content);
      assert.deepEqual(page.faults, []);
      assert.ok(page.withClass("verb").includes(pageText(value)));
      assert.deepEqual(page.named("title"), [pageText(value)]);
    }),
    { numRuns: runs(50) },
  );
});

test("an entry is written as soon as its calls have results, in the order of the log (WP1)", () => {
  const page = new SessionPage(FACTS);
  const said = (start: number, part: Part) =>
    page.entry({ ...emptyEntry({}), kind: "message", parts: [part], start, line: start });
  const call = (callId: string): Part => ({ type: "tool_call", callId, tool: "run", input: {} });
  const result = (callId: string): Part => {
    return { type: "tool_result", callId, output: `out ${callId}`, error: null, durationMs: null };
  };
  const text: Part = { type: "text", text: "between" };
  assert.ok(said(1, text).includes("between"));
  assert.equal(said(2, call("a")), "");
  assert.equal(said(3, call("b")), "");
  assert.equal(said(4, text), "");
  assert.equal(said(5, result("b")), "");
  const shown = ParsedHtml.fragment(said(6, result("a")));
  assert.deepEqual(shown.withClass("output"), ["out a", "out b"]);
  assert.ok(shown.text.indexOf("out b") < shown.text.indexOf("between"));
  assert.equal(said(7, call("never")), "");
  assert.equal(said(8, text), "");
  const foot = page.foot({ tornBytes: 0 });
  assert.ok(foot.indexOf("no result") < foot.indexOf("between"));
});

test("a call whose result does not come is written when too much waits after it (WP1)", () => {
  const page = new SessionPage(FACTS);
  const part: Part = { type: "tool_call", callId: null, tool: "run", input: {} };
  const said = (start: number, parts: readonly Part[]) =>
    page.entry({ ...emptyEntry({}), kind: "message", parts, start, line: start });
  assert.equal(said(1, [part]), "");
  const long: Part = { type: "text", text: "x".repeat(1 << 20) };
  const sizes = Array.from({ length: 8 }, (_, at) => said((at + 1) << 20, [long]).length);
  assert.ok(sizes[0] === 0 && sizes.some((size) => size > 4 << 20), sizes.join());
  const output = { type: "tool_result", callId: null, output: "late", error: null } as const;
  const late = ParsedHtml.fragment(said(9 << 20, [{ ...output, durationMs: null }]));
  assert.deepEqual(late.withClass("output"), ["late"]);
});

test("hostile entries are pieces of valid HTML", () => {
  const page = new SessionPage(FACTS);
  const pieces = entriesWith("x").map((entry) => page.entry(entry));
  const text = `${pieces.join("")}${page.foot({ tornBytes: 0 })}`;
  assert.deepEqual(ParsedHtml.fragment(text).faults, []);
});
