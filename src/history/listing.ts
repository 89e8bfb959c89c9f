/** Listing: the sessions of a history with their summaries, and which of them are meant. */

import { dialectNamed } from "../dialects/all.ts";
import { labelOf } from "../dialects/registry.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";
import { goneSessions } from "../sessions/list/gone-sessions.ts";
import { listPage } from "../sessions/list/list-page.ts";
import {
  isAgentMeant,
  isDialectMeant,
  type ProjectFilter,
  programIdOf,
  projectFilter,
  projectOf,
} from "../sessions/list/whose.ts";
import { type SessionLine, summaryOf } from "../sessions/store/list.ts";
import type { SessionSummary } from "../sessions/store/store-api.ts";
import { endOf, type HistoryFilter, timeOf } from "./options.ts";
import type { Places } from "./places.ts";

/** A session in a list. */
export interface ListedSession extends SessionSummary {
  /** Its id in its program. */
  readonly name: string;
  /** The agent's program, as its users call it; null: the dialect is of no program. */
  readonly program: string | null;
  /** It was signed, and its log is gone: only its id, place and time are known. */
  readonly isMissing: boolean;
}

export async function* listSessions(
  places: Places,
  filter: HistoryFilter,
): AsyncGenerator<ListedSession> {
  const { sort = "updated", limit = Number.POSITIVE_INFINITY, signal, onProgress } = filter;
  const { host, lookups, onWarning } = places;
  const chosen = new ChosenSessions(filter, places.cwd);
  const stores = chosen.storesOf(await places.stores());
  const page = await listPage(stores, {
    host,
    sort,
    limit,
    gone: await goneSessions(host, lookups),
    isShown: (line) => chosen.has(summaryOf(line)),
    onFound: (lines) => chosen.found(lines),
    onRecords: () => {},
    onWarning,
    ...(signal && { signal }),
    ...(onProgress && { onProgress: (_, done, total) => onProgress(done, total) }),
  });
  for (const line of page?.sessions ?? []) {
    signal?.throwIfAborted();
    yield listed(line);
  }
}

function listed(line: SessionLine): ListedSession {
  const { dialect } = line.place;
  return {
    ...summaryOf(line),
    name: programIdOf(dialect, line.id),
    program: labelOf(dialect),
    isMissing: line.isMissing === true,
  };
}

/** Which sessions a filter means. */
export class ChosenSessions {
  readonly #filter: HistoryFilter;
  readonly #isProject: ProjectFilter | null;
  readonly #found = new Set<string>();

  constructor(filter: HistoryFilter, cwd: string) {
    const { project } = filter;
    this.#filter = filter;
    this.#isProject = project === undefined ? null : projectFilter(project, cwd);
  }

  /** The stores that may have sessions of the agent. */
  storesOf(stores: readonly FoundStore[]): FoundStore[] {
    const { agent } = this.#filter;
    if (agent === undefined) return [...stores];
    return stores.filter(({ dialect }) => {
      return isDialectMeant(dialect, agent) || dialectNamed(dialect).program === undefined;
    });
  }

  /** Call it with all sessions first: a subagent's is left out if its parent is listed. */
  found(lines: readonly SessionLine[]): void {
    if (this.#filter.subagents !== false) return;
    for (const { id, place } of lines) {
      this.#found.add(keyOf(place, id));
      this.#found.add(keyOf(place, programIdOf(place.dialect, id)));
    }
  }

  has(session: SessionSummary): boolean {
    const { agent, model, status, title, since, until, subagents } = this.#filter;
    if (agent !== undefined && !isAgentMeant(session, agent)) return false;
    if (this.#isProject?.(projectOf(session), session.repository) === false) return false;
    if (model !== undefined && !isPart(model, session.model)) return false;
    if (status !== undefined && session.status !== status) return false;
    if (title !== undefined && !isPart(title, session.title)) return false;
    const at = session.updatedAt === null ? session.mtimeMs : Date.parse(session.updatedAt);
    if (since !== undefined && at < timeOf(since)) return false;
    if (until !== undefined && at >= endOf(until)) return false;
    return subagents !== false || !this.#isSubagents(session);
  }

  /** Of a program: rye's and Entire's children are sessions of their own, and so is an orphan. */
  #isSubagents({ dialect, root, id, parent }: SessionSummary): boolean {
    const { program } = dialectNamed(dialect);
    if (parent === null || parent === id || !program || program.hasForks) return false;
    return this.#found.has(keyOf({ dialect, root }, parent));
  }
}

function isPart(part: string, text: string | null): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

function keyOf({ dialect, root }: FoundStore, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}
