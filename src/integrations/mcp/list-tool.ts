/** List tool: the sessions of the stores, the latest first. */

import type { Of } from "../../client/schema.ts";
import { findStores } from "../../listing/find-stores.ts";
import { listPage } from "../../listing/list-page.ts";
import { type SessionLine, summaryOf } from "../../store/list.ts";
import type { LIST_ARGUMENTS } from "./arguments.ts";
import { badCursor, type McpParts } from "./parts.ts";

const LIMIT_DEFAULT = 20;

export async function listTool(
  { host, where, onWarning }: McpParts,
  { limit = LIMIT_DEFAULT, cursor, dialect, agent, status }: Of<typeof LIST_ARGUMENTS>,
  signal: AbortSignal,
): Promise<object> {
  const stores = findStores({ ...where, dialect: dialect ?? where.dialect });
  const filter = { agent, status };
  const onRecords = () => {};
  const options = { host, filter, limit, cursor, signal, onRecords, onWarning };
  const page = await listPage(stores, options);
  if (page === null) throw badCursor();
  return { sessions: page.sessions.map(told), next: page.next };
}

function told(line: SessionLine): object {
  const { id, dialect, title, agent, model, status, turns, totalTokens, ...rest } = summaryOf(line);
  const { spend, createdAt, updatedAt, size: bytes, badLines } = rest;
  return {
    ...{ session: id, dialect, title, agent, model, status, turns, totalTokens, spend },
    ...{ createdAt, updatedAt, bytes, badLines },
  };
}
