import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { findEntries } from "./find-entries.ts";
import { makeRoot } from "./index-table.ts";
import { parseQuery, QUERY_CHARS_MAX, QUERY_TERMS_MAX, type SearchQuery } from "./query.ts";
import { SearchIndex } from "./search-index.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const options = { nowMs: NOW, dialects: ["rye", "entire"] };

function parsed(text: string, isTyping = false): SearchQuery {
  return parseQuery(text, { ...options, isTyping });
}

/** Parsed terms: words with +, prefixes with *, unwanted ones with -. */
function said(text: string, isTyping = false): string {
  const { terms, without, filters } = parsed(text, isTyping);
  const shown = (mark: string) => (term: (typeof terms)[number]) =>
    `${mark}${term.words.join("+")}${term.isPrefix ? "*" : ""}`;
  const chosen = filters.map(({ by, value, isNot }) => `${isNot ? "-" : ""}${by}=${value}`);
  return [...terms.map(shown("")), ...without.map(shown("-")), ...chosen].join(" ");
}

function reason(text: string): string {
  try {
    parsed(text);
  } catch (error) {
    assert.ok(error instanceof VerbatimError && error.code === "SEARCH_QUERY", String(error));
    return error.message;
  }
  return "understood";
}

test("words, phrases, prefixes, exclusions and filters are parsed", () => {
  assert.equal(said("port  Timeout"), "port timeout");
  assert.equal(said('"Port 80" port-80'), "port+80 port+80");
  assert.equal(said('conn* "no such fi"*'), "conn* no+such+fi*");
  assert.equal(said('a -b -"c d" -e*x'), "a -b -c+d -e+x");
  assert.equal(said("Été 日本"), "ete 日+本");
  assert.equal(said('role:USER -tool:Bash agent:"my cook"'), "role=user -tool=Bash agent=my cook");
  assert.equal(said("DIALECT:rye session:A-1"), "dialect=rye session=A-1");
  assert.equal(said("-tag:Bug TAG:area/ui"), "-tag=Bug tag=area/ui");
  assert.equal(said("since:7d"), "since=2026-11-08T12:00:00.000Z");
  assert.equal(
    said("since:90m until:2h"),
    "since=2026-11-15T10:30:00.000Z until=2026-11-15T10:00:00.000Z",
  );
  assert.equal(said("until:2026-11-15"), "until=2026-11-15T00:00:00.000Z");
  assert.equal(said("since:2026-11-15T10:00:00+02:00"), "since=2026-11-15T08:00:00.000Z");
  assert.equal(said("x -since:1d"), "x -since=2026-11-14T12:00:00.000Z");
});

test("text that only looks like a filter is text", () => {
  assert.equal(said("TypeError: x"), "typeerror x");
  assert.equal(said("https://host/a"), "https+host+a");
  assert.equal(said("std::vector 12:30"), "std+vector 12+30");
  assert.equal(said('"key:value"'), "key+value");
});

test("the last word is a prefix while it is typed, from two characters on", () => {
  assert.equal(said("port tim", true), "port tim*");
  assert.equal(said("port t", true), "port t");
  assert.equal(said("port tim ", true), "port tim");
  assert.equal(said('port "no such', true), "port no+such*");
  assert.equal(said('"no such"', true), "no+such");
  assert.equal(said("port -", true), "port");
  assert.equal(said("port role:user", true), "port role=user");
});

test("a bad query is refused with a reason", () => {
  assert.match(reason(""), /it is empty/);
  assert.match(reason("  "), /it is empty/);
  assert.match(reason('a "b'), /a " is missing/);
  assert.match(reason('a"b"'), /a " inside a word/);
  assert.match(reason('"a"b'), /a " inside a word/);
  assert.match(
    reason("agnt:x"),
    /an unknown filter agnt: \(did you mean agent:\?\); known are agent: model: role:/,
  );
  assert.match(reason("agent:"), /agent: has no value/);
  assert.match(reason("role:me"), /role: must be one of system, user, assistant, tool/);
  assert.match(reason("dialect:x"), /dialect: must be one of rye, entire/);
  assert.match(reason("since:yesterday"), /since: is not a time/);
  assert.match(reason("since:2026-13-45"), /since: is not a time/);
  assert.match(reason("until:2026-02-30"), /until: is not a time/);
  assert.match(reason("!!"), /no letter and no digit/);
  assert.match(reason("a*"), /a \* needs 2 letters/);
});

test("a query is bounded in characters and in terms", () => {
  assert.equal(reason("a".repeat(QUERY_CHARS_MAX)), "understood");
  assert.match(reason("a".repeat(QUERY_CHARS_MAX + 1)), /longer than/);
  assert.equal(reason("a ".repeat(QUERY_TERMS_MAX)), "understood");
  assert.match(reason("a ".repeat(QUERY_TERMS_MAX + 1)), /more than 32 terms/);
});

test("any query has results, has none, or is refused with a reason; SQLite never fails on it", async () => {
  const index = await SearchIndex.open(join(tempDirectory(), "search.db"));
  onTestFinished(() => index.close());
  const place = { dialect: "rye", root: tempDirectory() };
  await index.attempt((cache) => makeRoot(cache, place.dialect, place.root));
  const typed = fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc
      .array(
        fc.constantFrom(
          '"',
          "*",
          "-",
          ":",
          "(",
          ")",
          "^",
          "+",
          "a",
          "OR",
          "NEAR",
          " ",
          "{x}",
          "\0",
          "é",
          "日",
        ),
      )
      .map((pieces) => pieces.join("")),
  );
  await fc.assert(
    fc.asyncProperty(typed, fc.boolean(), async (text, isTyping) => {
      let query: SearchQuery;
      try {
        query = parsed(text, isTyping);
      } catch (error) {
        assert.ok(error instanceof VerbatimError && error.code === "SEARCH_QUERY");
        return;
      }
      const options = { places: [place], after: null, limit: 5, examinedMax: 50 };
      await index.attempt((cache) => {
        assert.deepEqual(findEntries(cache, query, options), {
          entries: [],
          leftOut: [],
          next: null,
        });
      });
    }),
    { numRuns: 200 },
  );
});
