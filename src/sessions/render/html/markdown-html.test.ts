import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { anyText } from "../../../../test/e2e/any-text.ts";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { XSS_CORPUS } from "../../../../test/e2e/xss-corpus.ts";
import { HREF_CHARS_MAX, isSafeHref, markdownHtml, NESTING_MAX } from "./markdown-html.ts";
import { pageText } from "./markup.ts";

function made(text: string): string {
  return markdownHtml(text).html.toString();
}

const LINK = 'rel="noopener noreferrer nofollow"';

test("each kind of Markdown has its elements", () => {
  const cases: [string, string][] = [
    ["a\nb\n\nc", "<p>a\nb</p><p>c</p>"],
    ["# a\n## b\n# c", "<h3>a</h3><h4>b</h4><h3>c</h3>"],
    ["**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>"],
    ["a  \nb\\\nc \\* d", "<p>a<br>b<br>c * d</p>"],
    ["> a\n> - b", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote>"],
    ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
    ["- [x] a\n- [ ] b", '<ul><li class="task">☑ a</li><li class="task">☐ b</li></ul>'],
    ["1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"],
    ["7. a", '<ol start="7"><li>a</li></ol>'],
    ["---", "<hr>"],
    ["    a", '<div class="code"><pre><code>a</code></pre></div>'],
    [
      "```ts x\n<a>\n```",
      '<div class="code"><span class="lang">ts x</span><pre><code>&lt;a&gt;</code></pre></div>',
    ],
    [
      "|a|b|c|\n|-|:-:|-:|\n|1|2|3|",
      '<div class="wide"><table><thead><tr><th>a</th><th class="center">b</th>' +
        '<th class="right">c</th></tr></thead><tbody><tr><td>1</td>' +
        '<td class="center">2</td><td class="right">3</td></tr></tbody></table></div>',
    ],
    ["[a](https://x.invalid/?b&c)", `<p><a href="https://x.invalid/?b&amp;c" ${LINK}>a</a></p>`],
    ["<mailto:a@b.invalid>", `<p><a href="mailto:a@b.invalid" ${LINK}>mailto:a@b.invalid</a></p>`],
    [
      "![a](https://x.invalid/b.png)",
      `<p><a href="https://x.invalid/b.png" ${LINK}><span class="image">Image</span> a</a></p>`,
    ],
    [
      "![](b.png)",
      '<p><span class="image">Image</span> without a text <span class="href">(b.png)</span></p>',
    ],
  ];
  for (const [text, expected] of cases) assert.equal(made(text), expected, text);
});

test("headings leave no level out", () => {
  const heading = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom("", "> ", "- "));
  fc.assert(
    fc.property(fc.array(heading), (headings) => {
      const text = headings.map(([depth, mark]) => `${mark}${"#".repeat(depth)} a`).join("\n\n");
      const levels = Array.from(made(text).matchAll(/<h(\d)>/g), ([, level]) => Number(level));
      assert.equal(levels.length, headings.length);
      for (const [n, level] of levels.entries()) {
        assert.ok(level >= 3 && level <= (levels[n - 1] ?? 2) + 1, `${levels}: ${text}`);
      }
      for (const [n, [depth]] of headings.entries()) {
        const isBelow = depth > (headings[n - 1]?.[0] ?? 0);
        if (isBelow && (levels[n - 1] ?? 0) < 6) assert.ok((levels[n] ?? 0) > (levels[n - 1] ?? 2));
      }
    }),
  );
});

test("HTML in Markdown is text, and Markdown within it is Markdown (MT4)", () => {
  assert.equal(made("<b>**c**</b>"), "<p>&lt;b&gt;<strong>c</strong>&lt;/b&gt;</p>");
  assert.equal(made("<!-- a -->"), "<p>&lt;!-- a --&gt;</p>");
  assert.equal(made("&lt;b&gt; &copy;"), "<p>&amp;lt;b&amp;gt; &amp;copy;</p>");
});

test("text that Markdown would hide is shown (MH3)", () => {
  assert.equal(
    made('[a]: https://x.invalid "b"'),
    '<p class="plain">[a]: https://x.invalid &quot;b&quot;</p>',
  );
  assert.equal(made("[a](javascript:b)"), '<p>a <span class="href">(javascript:b)</span></p>');
});

test("a link leads to the web or a mailbox, by a plain address, or it is not a link (MH2)", () => {
  const safe = [
    "http://a",
    "HTTPS://a.invalid:8080/b?c=d&e#f",
    "https://a.invalid/@b",
    "https://日本.invalid/é",
    "mailto:a@b.invalid?subject=c",
  ];
  const unsafe = [
    "",
    "#entry-1",
    "/a",
    "//a.invalid",
    "javascript:a",
    "JAVASCRIPT:a",
    " javascript:a",
    "java\tscript:a",
    "data:text/html,a",
    "vbscript:a",
    "file:///a",
    "blob:https://a",
    "https:a.invalid",
    "https:/a.invalid",
    "https://",
    "https://a@b.invalid",
    "https://a.invalid\\@b",
    "https://a.invalid/\u0000",
    "https://a.invalid/\u202e",
    "https://a.invalid/ b",
    'https://a.invalid/"',
    "https://a.invalid/<",
    "mailto:",
    "x".repeat(10),
  ];
  for (const href of safe) assert.ok(isSafeHref(href), href);
  for (const href of unsafe) assert.ok(!isSafeHref(href), href);
  const longest = `https://a.invalid/${"b".repeat(HREF_CHARS_MAX)}`.slice(0, HREF_CHARS_MAX);
  assert.deepEqual([isSafeHref(longest), isSafeHref(`${longest}b`)], [true, false]);
});

test("elements are nested up to a limit, and deeper ones are text (MH3)", () => {
  const nested = (depth: number) => {
    const lines = Array.from({ length: depth }, (_, at) => `${"  ".repeat(at)}- a${at}`);
    return made(lines.join("\n"));
  };
  const listsIn = (html: string) => html.split("<ul>").length - 1;
  assert.equal(listsIn(nested(NESTING_MAX)), NESTING_MAX);
  const deeper = nested(NESTING_MAX + 3);
  assert.equal(listsIn(deeper), NESTING_MAX);
  for (let at = 0; at < NESTING_MAX + 3; at++) assert.ok(deeper.includes(`a${at}`));
});

test("a text without Markdown is shown as it is, and reported as unformatted", () => {
  const words = fc.array(fc.constantFrom("a", "bc", "\n", " ", "é", "日", "."), { maxLength: 50 });
  fc.assert(
    fc.property(
      fc.oneof(
        words.map((each) => each.join("")),
        fc.string(),
      ),
      (text) => {
        const { html, isFormatted } = markdownHtml(text);
        if (isFormatted) return;
        const shown = ParsedHtml.fragment(html.toString()).text;
        assert.equal(shown.replace(/\s/g, ""), pageText(text).replace(/\s/g, ""));
      },
    ),
  );
  assert.equal(markdownHtml("just words,\non two lines").isFormatted, false);
  assert.equal(markdownHtml("just *words*").isFormatted, true);
});

test("any text gives only our own elements and attributes (MH1)", () => {
  const piece = fc.oneof(
    fc.constantFrom(...XSS_CORPUS.filter((text) => text.length < 200)),
    fc.constantFrom("*", "_", "[", "](", ")", "`", "\n\n", "> ", "- ", "|", "<", '"', "&", "\\"),
    anyText,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      assert.deepEqual(ParsedHtml.fragment(made(pieces.join(""))).faults, []);
    }),
    { numRuns: 200 },
  );
});
