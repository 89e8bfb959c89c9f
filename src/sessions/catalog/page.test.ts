import assert from "node:assert/strict";
import { test } from "vitest";
import { type Mark, type Page, type PageSource, page } from "./page.ts";

type Row = Mark & { readonly key: string };

/** In memory, or read two rows at a time. */
function sourceOf(
  key: string,
  rows: readonly Row[],
  isRead: boolean,
): PageSource<{ key: string }, Row> {
  if (!isRead) return { store: { key }, rows };
  const more = async (from: Mark | null) => {
    const at = from && rows.findIndex(({ id, key }) => key === from.key && id >= from.id);
    const later = from ? rows.findIndex(({ key }) => key < String(from.key)) : 0;
    const start = at === null || at < 0 ? later : at;
    return start < 0 ? [] : rows.slice(start, start + 2);
  };
  return { store: { key }, rows: [], more };
}

test("pages of any length list each session once, also copies with one id and time in two stores", async () => {
  const rows = ["c", "b", "a"].flatMap((key) => ["1", "2", "3"].map((id) => ({ key, id })));
  const expected = rows.flatMap(({ key, id }) => [`${key}${id}x`, `${key}${id}y`]);
  for (const isRead of [true, false]) {
    for (let limit = 1; limit <= expected.length + 1; limit++) {
      const sources = ["y", "x"].map((key) => sourceOf(key, rows, isRead));
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const take = (row: Row, store: { key: string }) => `${row.key}${row.id}${store.key}`;
        const listed: Page<string> | null = await page(sources, {
          order: "o",
          limit,
          cursor,
          take,
        });
        assert.ok(listed);
        assert.ok(listed.sessions.length <= limit);
        seen.push(...listed.sessions);
        cursor = listed.next;
      }
      assert.deepEqual(seen, expected, `limit ${limit}`);
    }
  }
});

test("a page that has examined enough rows ends, and the next one continues there", async () => {
  const rows = Array.from({ length: 7 }, (_, n) => ({ key: "a", id: `${n}` }));
  const sources = [sourceOf("x", rows, false)];
  const take = ({ id }: Row) => (id === "5" ? id : null);
  const first = await page(sources, { order: "o", limit: 2, examinedMax: 4, take });
  assert.deepEqual([first?.sessions, typeof first?.next], [[], "string"]);
  const next = await page(sources, {
    order: "o",
    limit: 2,
    cursor: first?.next,
    examinedMax: 4,
    take,
  });
  assert.deepEqual(next, { sessions: ["5"], next: null });
});

test("a cursor of another program is refused", async () => {
  const take = () => null;
  for (const said of [
    "",
    "null",
    "[1,2,3]",
    '["a","b"]',
    '["b","b","c","d"]',
    '["a",{},"c","d"]',
    "{",
  ]) {
    const cursor = Buffer.from(said).toString("base64url");
    assert.equal(await page([], { order: "a", limit: 1, cursor, take }), null, said);
  }
});
