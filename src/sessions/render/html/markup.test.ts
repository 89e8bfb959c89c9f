import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { type Html, html, pageText } from "./markup.ts";

test("a value is escaped, unless it is HTML made the same way (MU1)", () => {
  const inner: Html = html`<b>${"<i>"}</b>`;
  const cases: [Html, string][] = [
    [html`<p>${"a < b & c"}</p>`, "<p>a &lt; b &amp; c</p>"],
    [html`<a href="${"\"'`"}">`, '<a href="&quot;&#39;&#96;">'],
    [html`${inner}${[inner, inner]}`, "<b>&lt;i&gt;</b>".repeat(3)],
    [html`${null}${0}${-1.5}${""}`, "0-1.5"],
    [html`plain`, "plain"],
  ];
  for (const [made, text] of cases) assert.equal(made.toString(), text);
});

test("an object that only looks like Html is escaped or refused (MU1)", () => {
  const forged = { toString: () => "<script>" } as unknown as string;
  assert.throws(() => html`${forged}`);
  assert.equal(html`${["<script>"] as unknown as Html[]}`.toString(), "&lt;script&gt;");
});

test("a parser returns every character as it is shown, in a text and in an attribute", () => {
  // Method: all of them, with neighbours that would make a reference, a tag or an end of both.
  for (let from = 0; from <= 0xffff; from += 256) {
    const texts = Array.from({ length: 256 }, (_, at) => {
      return `a${String.fromCharCode(from + at)}b;</p>"'`;
    });
    const made = texts.map((text) => html`<p class="${text}">${text}</p>`).join("");
    const { elements, text } = ParsedHtml.fragment(made);
    const shown = texts.map(pageText);
    assert.equal(text, shown.join(""));
    assert.deepEqual(
      elements.map(({ tagName, attrs }) => [tagName, attrs[0]?.value]),
      shown.map((value) => ["p", value]),
    );
  }
});

test("control characters are spelled out, and CR LF ends a line (MU2)", () => {
  const cases: [string, string][] = [
    ["\u001b[31m\u0000", "\\u001b[31m\\u0000"],
    ["\u202etxt\u2066", "\\u202etxt\\u2066"],
    ["\ud83d", "\\ud83d"],
    ["x\udc00y", "x\\udc00y"],
    ["\ud83d\ude00 é 日本", "\ud83d\ude00 é 日本"],
    ["a\r\nb\rc\n\td", "a\nb\\u000dc\n\td"],
  ];
  for (const [text, shown] of cases) {
    assert.equal(pageText(text), shown);
    assert.ok(html`${text}`.toString().isWellFormed());
  }
});
