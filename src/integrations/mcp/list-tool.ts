/**
 * List tool: the sessions of the stores, the latest first.
 *
 * A page begins after a position in the order, which its cursor has: sessions that come and go
 * between two pages shift nothing.
 */

import type { Of } from "../../client/schema.ts";
import { findStores } from "../../listing/find-stores.ts";
import type { SessionSummary } from "../../store/published.ts";
import { Store } from "../../store/store.ts";
import type { LIST_ARGUMENTS } from "./arguments.ts";
import { badCursor, type McpParts } from "./parts.ts";

const LIMIT_DEFAULT = 20;

/** When it was changed, its id and its dialect. */
type Place = readonly [string, string, string];

export async function listTool(
  { host, where, onWarning }: McpParts,
  { limit = LIMIT_DEFAULT, cursor, dialect, agent, status }: Of<typeof LIST_ARGUMENTS>,
  signal: AbortSignal,
): Promise<object> {
  const after = cursor === undefined ? null : placeIn(cursor);
  const found: SessionSummary[] = [];
  for (const store of findStores({ ...where, dialect: dialect ?? where.dialect })) {
    for (const session of await new Store(host, { ...store, onWarning }).list({ signal })) {
      if (agent !== undefined && session.agent !== agent) continue;
      if (status !== undefined && session.status !== status) continue;
      if (after === null || compare(after, placeOf(session)) < 0) found.push(session);
    }
  }
  found.sort((a, b) => compare(placeOf(a), placeOf(b)));
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return {
    sessions: shown.map(told),
    next: last ? Buffer.from(JSON.stringify(placeOf(last))).toString("base64url") : null,
  };
}

function told(session: SessionSummary): object {
  const { id, dialect, title, agent, model, status, turns, totalTokens, spend } = session;
  const { createdAt, updatedAt, size: bytes, badLines } = session;
  const times = { createdAt, updatedAt };
  return {
    ...{ session: id, dialect, title, agent, model, status, turns, totalTokens, spend },
    ...times,
    bytes,
    badLines,
  };
}

function placeOf({ updatedAt, mtimeMs, id, dialect }: SessionSummary): Place {
  return [updatedAt ?? new Date(mtimeMs).toISOString(), id, dialect];
}

/** Later times first, then by id. */
function compare(a: Place, b: Place): number {
  if (a[0] !== b[0]) return a[0] > b[0] ? -1 : 1;
  return order(a[1], b[1]) || order(a[2], b[2]);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function placeIn(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (isPlace(place)) return place;
  } catch {
    // Not our cursor, as below.
  }
  throw badCursor();
}

function isPlace(value: unknown): value is Place {
  return (
    Array.isArray(value) && value.length === 3 && value.every((each) => typeof each === "string")
  );
}
