/**
 * The documentation site, as `npm run docs` builds it: complete, without dead links, and without
 * anything from another server. The pages that describe lists of the code have all of them.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, test } from "vitest";
import { find } from "../scripts/site/find.mjs";
import { BEHIND, GENERATED, ORDER } from "../scripts/site/order.mjs";
import { listedPages } from "../scripts/site/site.mjs";
import { runnable } from "../src/cli/commands.ts";
import { STATUS } from "../src/server/http/status.ts";
import { openApiDocument } from "../src/server/openapi/document.ts";
import { REFUSALS } from "../src/server/streams/route.ts";
import { EXIT_CODES } from "../src/trust/proof/verdict.ts";
import { root } from "./public-api/doors.ts";
import { builtSite } from "./support/built-site.ts";

const pageText = (path: string) => readFileSync(join(root, path), "utf8");

/** More than these, and a reader gives up looking. Words do not count in generated pages. */
const MENU_PAGES_MAX = 40;
const MENU_WORDS_MAX = 52_000;

/** Queries as people type them, and the page that must be found first. */
const QUESTIONS = {
  "change port": "server.html",
  "cost per project": "usage.html",
  docker: "server.html",
  "import from another machine": "resume.html",
  retention: "guides/retention.html",
  "what is a dialect": "formats.html",
  "where are my files": "guides/files.html",
  "can I delete the cache": "faq.html",
  "how much disk space does it need": "guides/files.html",
  "set up for my team": "guides/team.html",
  "two machines": "guides/team.html",
  auditor: "guides/auditor.html",
  "has this been changed": "guides/auditor.html",
  "find api keys": "redaction.html",
  "hide part of a session": "redaction.html",
  gdpr: "guides/retention.html",
  "what does signing prove": "security.html",
  postgres: "scaling.html",
  "high availability": "scaling.html",
  "status line": "usage.html",
  budget: "usage.html",
  "backup server": "server.html",
  nginx: "server.html",
  https: "server.html",
  "claude code": "guides/keep-history.html",
  "cursor history": "agents.html",
  "vercel ai sdk": "guides/frameworks.html",
  uninstall: "faq.html",
  "how much did I spend": "usage.html",
  "what does it cost": "usage.html",
  quickstart: "index.html",
  "getting started": "index.html",
  tutorial: "index.html",
  mac: "index.html",
  install: "index.html",
  privacy: "faq.html",
  telemetry: "faq.html",
  "does it upload my data": "faq.html",
  "delete a session": "guides/retention.html",
  "port in use": "faq.html",
  windows: "faq.html",
  "why is it slow": "faq.html",
  "remove api key from transcript": "faq.html",
  "remove secret": "redaction.html",
  "share a session": "redaction.html",
  "restore deleted session": "guides/keep-history.html",
  "verify sessions in CI": "guides/sign-and-verify.html",
  "resume a session": "resume.html",
  "continue after a crash": "resume.html",
  "streaming to browsers": "start/stream-to-a-browser.html",
  "exit code 3": "exit-codes.html",
};

/** Not the bars of a table. */
const isWord = (text: string) => /[\p{L}\p{N}]/u.test(text);

const menuPages = ORDER.flatMap(({ pages }) => [...pages]);

test("the site has every page of docs, each once", () => {
  const written = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  assert.deepEqual(
    listedPages()
      .filter((path) => path.startsWith("docs/"))
      .sort(),
    [...written, ...GENERATED].sort(),
  );
});

test("the menu can be read: its number of pages and their words are limited", () => {
  const written = menuPages.filter((path) => ![...GENERATED, "docs/reference.md"].includes(path));
  const words = written.flatMap((path) => pageText(path).split(/\s+/).filter(isWord)).length;
  assert.ok(menuPages.length <= MENU_PAGES_MAX, `${menuPages.length} pages`);
  assert.ok(words <= MENU_WORDS_MAX, `${words} words`);
});

test("the page in front of a folder links to each of its pages", () => {
  for (const { folder, page } of BEHIND) {
    const linked = [...pageText(page).matchAll(/\]\((formats\/[^)#]+)\)/g)].map(([, to]) => to);
    const names = readdirSync(join(root, folder)).map((name) => `formats/${name}`);
    assert.deepEqual(linked.sort(), names.sort());
  }
});

describe("the built site", () => {
  let files: ReadonlyMap<string, Buffer>;
  const textOf = (address: string) => String(files.get(address) ?? assert.fail(address));
  const pages = () => [...files.keys()].filter((name) => /(?<!404)\.html$/.test(name));

  /** What the search looks through. */
  let sections: string[][] = [];

  beforeAll(async () => {
    const { folder, addresses } = await builtSite();
    files = new Map(addresses.map((address) => [address, readFileSync(join(folder, address))]));
    new Function("verbatimSearch", textOf("search.js"))((index: string[][]) => {
      sections = index;
    });
  });

  test("loads nothing from another server", () => {
    for (const address of pages()) {
      const html = textOf(address);
      const loaded = html.matchAll(/<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="([^"]*)"/g);
      for (const [, source = ""] of loaded) assert.doesNotMatch(source, /^(?:\w+:)?\/\//, address);
      assert.match(html, /Content-Security-Policy" content="default-src 'none';/, address);
    }
    assert.doesNotMatch(textOf("style.css"), /@import|url\(/);
    assert.doesNotMatch(textOf("client.js"), /https?:/);
  });

  test("every link inside it leads to one of its files", () => {
    const dead = pages().flatMap((address) =>
      [...textOf(address).matchAll(/(?:href|src)="([^"#:]+)(?:#[^"]*)?"/g)]
        .map(([, to = ""]) => [to, new URL(to, `http://site/${address}`).pathname.slice(1)])
        .filter(([, target = ""]) => !files.has(decodeURIComponent(target)))
        .map(([to]) => `${address}: ${to}`),
    );
    assert.deepEqual(dead, []);
  });

  test("a link whose text is a file's name shows the title of that page", () => {
    assert.match(textOf("cli.html"), /<a href="agents.html">Other agents' sessions<\/a>/);
    const shown = pages().flatMap((address) => [
      ...textOf(address).matchAll(/<a href="[^":#][^":]*">[^<]*\.md<\/a>/g),
    ]);
    assert.deepEqual(shown, []);
  });

  test("the page for dead links leads to the others from any address", () => {
    assert.match(textOf("404.html"), /<base href="\/">/);
    const [, first = ""] = /<nav.*?<a href="([^"]*)"/s.exec(textOf("404.html")) ?? [];
    assert.equal(first, "index.html");
  });

  test("has every command with its options, and every route", async () => {
    const commands = textOf("commands.html");
    for (const { names, command } of runnable()) {
      assert.ok(commands.includes(`>verbatim ${names}</h2>`), names);
      for (const { flags } of command.options) {
        assert.ok(commands.includes(`<code>${flags.replace(/</g, "&lt;").replace(/>/g, "&gt;")}`));
      }
    }
    const routes = textOf("http.html");
    for (const [path, methods] of Object.entries((await openApiDocument()).paths)) {
      for (const method of Object.keys(methods as object).filter((key) => key !== "parameters")) {
        assert.ok(routes.includes(`>${method.toUpperCase()} ${path}</h2>`), `${method} ${path}`);
      }
    }
  });

  test("a route has its parameters, their values and defaults, its body and its headers", () => {
    const [, list = ""] = textOf("http.html").split('id="get-v1sessions"');
    const part = list.slice(0, list.indexOf("<h2"));
    assert.match(part, /one of <code>completed<\/code>, <code>error<\/code>/);
    assert.match(part, /1 to \d+; default: <code>\d+<\/code>/);
    assert.equal(part.match(/Refused; the code says why/g)?.length, 1);
    const [, share = ""] = textOf("http.html").split('id="post-v1shares"');
    assert.match(share, /<code>expiresInSeconds<\/code>.*default: <code>86400<\/code>/);
    assert.match(textOf("http.html"), /<code>Share-Version<\/code>: How many copies/);
  });

  test("a placeholder in the text of an option is not a link", () => {
    assert.doesNotMatch(textOf("commands.html"), /href="https:\/\/host/);
  });

  test("the search index has the sections of every page", () => {
    const found = new Set(sections.map(([address]) => address?.split("#")[0]));
    assert.deepEqual([...found].sort(), pages().sort());
    const limits = sections.find(([address]) => address === "server.html#limits");
    assert.match(limits?.[3] ?? "", /bodyBytesMax 16777216/);
  });

  test("the search has the page that answers a question first", () => {
    const wrong = Object.entries(QUESTIONS).filter(([query, page]) => {
      const [first] = find(sections, query);
      return first?.section[0]?.split("#")[0] !== page;
    });
    assert.deepEqual(wrong, []);
  });

  test("a query of which no section has all words finds those with most of them", () => {
    const [first] = find(sections, "restore deleted session qqqq");
    assert.equal(first?.section[0], "guides/keep-history.html#3-delete-and-restore");
    assert.equal(find(sections, "qqqq").length, 0);
  });

  test("a page has a title and a description of its own, and leads to the next one", () => {
    const next = new Map<string, string>();
    const titles = pages().map((address) => {
      const html = textOf(address);
      assert.match(html, /<meta name="description" content="[^"]{10,}">/, address);
      const [, to] = /<a rel="next" href="([^"]*)"/.exec(html) ?? [];
      if (to) next.set(address, new URL(to, `http://site/${address}`).pathname.slice(1));
      return /<title>(.*)<\/title>/.exec(html)?.[1];
    });
    assert.equal(new Set(titles).size, titles.length);
    const walked: string[] = [];
    for (let at: string | undefined = "index.html"; at; at = next.get(at)) walked.push(at);
    assert.equal(walked.length, menuPages.length);
  });

  test("a description ends with a whole word, and says what the page is about", () => {
    for (const address of pages()) {
      const [, text = ""] =
        /<meta name="description" content="([^"]*)"/.exec(textOf(address)) ?? [];
      assert.match(text, /(?:[.:)";]| …)$/, `${address}: ${text}`);
      assert.doesNotMatch(text, /You need the command|^(?:No|Yes)\./, address);
    }
  });

  test("a picture has its size, and leads to itself", () => {
    const images = pages().flatMap((name) => textOf(name).match(/<a [^>]*><img.*?>/g) ?? []);
    assert.ok(images.length > 5);
    for (const image of images) {
      assert.match(image, /<a href="(.*)"><img src="\1" .* width="\d+" height="\d+"/);
    }
  });

  test("marks what a command prints", () => {
    const output = /verbatim <[^\n]*--ids<\/code><\/pre>\n<pre class="text"><code>app\//;
    assert.match(textOf("start/see-your-sessions.html"), output);
    assert.match(
      textOf("style.css"),
      /:is\(pre, \.code\) \+ pre\.text::before \{\s+content: "Output";/,
    );
  });

  test("is small", () => {
    const bytes = [...files.values()].reduce((sum, each) => sum + each.length, 0);
    assert.ok(bytes < 8_000_000, `${bytes} bytes`);
  });
});

/** The rows of all tables of a page, as cells. */
function rowsOf(path: string): string[][] {
  return [...pageText(path).matchAll(/^\| (.*) \|$/gm)].map(([, row = ""]) => row.split(" | "));
}

test("docs/errors.md has each error code once, with its cause and its remedy", () => {
  const rows = rowsOf("docs/errors.md").filter(([code = ""]) => code.startsWith("`"));
  const codes = rows.map(([code = ""]) => code.replaceAll("`", ""));
  const onlyHttp = [...Object.values(REFUSALS).map(([, code]) => code), "INTERNAL"];
  assert.deepEqual(codes.sort(), [...Object.keys(STATUS), ...onlyHttp].sort());
  for (const [code, cause = "", remedy = ""] of rows) {
    assert.ok(cause.length > 5 && remedy.length > 5, code);
  }
});

test("docs/exit-codes.md has the exit code of every verdict", () => {
  const rows = rowsOf("docs/exit-codes.md").filter(([verdict = ""]) =>
    Object.keys(EXIT_CODES).includes(verdict.slice(1, -1)),
  );
  assert.deepEqual(
    Object.fromEntries(rows.map(([verdict = "", code]) => [verdict.slice(1, -1), Number(code)])),
    EXIT_CODES,
  );
});

test("the measurements in docs/compare.md are those of docs/performance.md", () => {
  const measured = pageText("docs/performance.md");
  const compared = [...pageText("docs/compare.md").matchAll(/\d[\d.]*\.\.\d[\d.]*\d/g)];
  assert.ok(compared.length > 5);
  for (const [spread] of compared) assert.ok(measured.includes(`| ${spread} |`), spread);
});
