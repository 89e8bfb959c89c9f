import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";
import { withFirstPage, withNextPage } from "./merge-rows.ts";

function session(id: number, minute: number): SessionItem {
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  return { id: `s${id}`, updatedAt: at, modifiedAt: at } as SessionItem;
}

function pageOf(sessions: readonly SessionItem[], size: number): SessionPage {
  const next = sessions.length > size ? "more" : null;
  const none = { facets: null, lookedIn: [], isComplete: true, unreadable: 0 };
  return { sessions: sessions.slice(0, size), next, ...none };
}

test("an updated list has each session once, and begins like the server's", () => {
  const minutes = fc.uniqueArray(fc.nat(500), { maxLength: 40 });
  const order = (rows: SessionItem[]) => {
    return rows.sort((one, other) => (one.modifiedAt < other.modifiedAt ? 1 : -1));
  };
  fc.assert(
    fc.property(
      minutes,
      fc.nat(40),
      fc.array(fc.nat(39)),
      fc.integer({ min: 1, max: 9 }),
      (all, loaded, touched, size) => {
        const before = order(all.map((minute, id) => session(id, minute)));
        const moved = new Set(touched);
        const gone = new Set([touched[0]]);
        const after = order(
          all.flatMap((minute, id) => {
            if (gone.has(id)) return [];
            return [session(id, moved.has(id) ? 1000 + id : minute)];
          }),
        );
        const page = pageOf(after, size);
        const merged = withFirstPage(before.slice(0, loaded), page, "updated");
        const ids = merged.map(({ id }) => id);
        assert.equal(new Set(ids).size, ids.length);
        assert.deepEqual(merged.slice(0, page.sessions.length), page.sessions);
        if (page.next === null) assert.deepEqual(merged, after);
        const more = withNextPage(merged, pageOf(after.slice(size), 100));
        assert.deepEqual(new Set(more.map(({ id }) => id)).size, more.length);
        for (const { id } of after) assert.ok(more.some((row) => row.id === id));
      },
    ),
  );
});
