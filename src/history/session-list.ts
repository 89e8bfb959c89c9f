/** Session list: the sessions of a history with their summaries, and which of them are meant. */

import { labelOf } from "../dialects/registry.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";
import { goneSessions } from "../sessions/list/gone-sessions.ts";
import { listPage } from "../sessions/list/list-page.ts";
import { programIdOf } from "../sessions/list/whose.ts";
import { type SessionLine, summaryOf } from "../sessions/store/list.ts";
import type { SessionSummary } from "../sessions/store/store-api.ts";
import { ChosenSessions, keyOf, type SessionFilter } from "./chosen-sessions.ts";
import { endOf, type HistoryFilter, type SessionChoice, timeOf } from "./options.ts";
import type { Places } from "./places.ts";

/** A session in a list. */
export interface ListedSession extends SessionSummary {
  /** Its id in its program. */
  readonly name: string;
  /** The agent's program, as its users call it; null: the dialect is of no program. */
  readonly program: string | null;
  /**
   * US dollars as `usage` counts them, with its subagents; null: unknown. Only if sorted by `spend`:
   * all sessions are counted before.
   */
  readonly cost?: number | null;
  /** It was signed, and its log is gone: only its id, place and time are known. */
  readonly isMissing: boolean;
}

export async function* listSessions(
  places: Places,
  filter: HistoryFilter,
): AsyncGenerator<ListedSession> {
  const { sort = "updated", limit = Number.POSITIVE_INFINITY, subagents = true } = filter;
  const { signal, onProgress } = filter;
  const { host, lookups, onWarning } = places;
  const chosen = new ChosenSessions(filterOf(filter), places.cwd);
  const stores = chosen.storesOf(await places.stores());
  const page = await listPage(stores, {
    host,
    sort,
    limit: sort === "spend" ? Number.POSITIVE_INFINITY : limit,
    gone: await goneSessions(host, lookups),
    isShown: (line) => {
      const session = summaryOf(line);
      return chosen.has(session) && (subagents || !chosen.isSubagents(session));
    },
    onFound: (lines) => chosen.found(lines),
    onRecords: () => {},
    onWarning,
    ...(signal && { signal }),
    ...(onProgress && { onProgress: (_, done, total) => onProgress(done, total) }),
  });
  const lines = page?.sessions ?? [];
  const costs = sort === "spend" ? await counted(places, lines, stores, filter) : null;
  for (const line of (costs === null ? lines : [...costs.keys()]).slice(0, limit)) {
    signal?.throwIfAborted();
    yield listed(line, costs);
  }
}

async function counted(
  { host, cwd, onWarning }: Places,
  lines: readonly SessionLine[],
  stores: readonly FoundStore[],
  { signal, onProgress }: HistoryFilter,
): Promise<Map<SessionLine, number | null>> {
  const { sessionCosts } = await import("./session-facts.ts");
  return sessionCosts(host, lines, {
    cwd,
    stores,
    onFailure: (id) => onWarning(`${id} could not be counted`),
    onProgress: (done, total) => {
      signal?.throwIfAborted();
      onProgress?.(done, total);
    },
  });
}

function listed(
  line: SessionLine,
  costs: ReadonlyMap<SessionLine, number | null> | null,
): ListedSession {
  const { dialect } = line.place;
  return {
    ...summaryOf(line),
    ...(costs && { cost: costs.get(line) ?? null }),
    name: programIdOf(dialect, line.id),
    program: labelOf(dialect),
    isMissing: line.isMissing === true,
  };
}

/** With times as numbers. */
function filterOf(filter: HistoryFilter): SessionFilter {
  const { since, until } = filter;
  return {
    ...filter,
    since: since === undefined ? undefined : timeOf(since),
    until: until === undefined ? undefined : endOf(until),
  };
}

/** Which sessions a choice means, by place and id. */
export type IsChosen = (place: FoundStore, id: string) => boolean;

/** The stores that may have such sessions. Summaries are read only if something in them is asked for. */
export async function sessionChoice(
  places: Places,
  choice: SessionChoice,
): Promise<{ readonly stores: readonly FoundStore[]; readonly isChosen: IsChosen }> {
  const { agent, project, model, since, until, tag, starred, signal } = choice;
  const chosen = new ChosenSessions(filterOf(choice), places.cwd);
  const stores = chosen.storesOf(await places.stores());
  if ((agent ?? project ?? model ?? since ?? until ?? tag) === undefined && starred !== true) {
    return { stores, isChosen: () => true };
  }
  const page = await listPage(stores, {
    host: places.host,
    limit: Number.POSITIVE_INFINITY,
    isShown: (line) => chosen.has(summaryOf(line)),
    onWarning: places.onWarning,
    ...(signal && { signal }),
  });
  const keys = new Set(page?.sessions.map(({ place, id }) => keyOf(place, id)));
  return { stores, isChosen: (place, id) => keys.has(keyOf(place, id)) };
}
