/**
 * Chosen sessions: which sessions a filter means, for the commands and for programs. `ls` loads it:
 * it reads nothing.
 */

import type { SessionStatus } from "../core/model/summary.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { ProjectFilter } from "../sessions/catalog/page.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";
import {
  isAgentMeant,
  isDialectMeant,
  isSenderMeant,
  programIdOf,
  projectFilter,
} from "../sessions/list/whose.ts";
import type { SessionLine } from "../sessions/store/list.ts";
import type { SessionSummary } from "../sessions/store/store-api.ts";

/** Absent or undefined: all. */
export interface SessionFilter {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  /** Parts of the model's name and of the title. */
  readonly model?: string | undefined;
  readonly title?: string | undefined;
  readonly status?: SessionStatus | undefined;
  /** Last changed then or later, and before then: milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Who sent them to the server whose data directory is looked in. */
  readonly machine?: string | undefined;
  readonly user?: string | undefined;
  /** Of the user's notes, or the session's own. */
  readonly tag?: string | undefined;
  /** True: only those that the user starred. */
  readonly starred?: boolean | undefined;
}

export class ChosenSessions {
  readonly #filter: SessionFilter;
  readonly #isProject: ProjectFilter | null;
  readonly #found = new Set<string>();

  constructor(filter: SessionFilter, cwd: string) {
    const { project } = filter;
    this.#filter = filter;
    this.#isProject = project === undefined ? null : projectFilter(project, cwd);
  }

  /** The stores that may have sessions of the agent, and are of the sender. */
  storesOf(stores: readonly FoundStore[]): FoundStore[] {
    const { agent } = this.#filter;
    return stores.filter(({ dialect, root }) => {
      if (!isSenderMeant(root, this.#filter)) return false;
      if (agent === undefined) return true;
      return isDialectMeant(dialect, agent) || dialectNamed(dialect).program === undefined;
    });
  }

  /** For `isSubagents`: call it with all sessions first. */
  found(lines: readonly SessionLine[]): void {
    for (const { id, place } of lines) {
      this.#found.add(keyOf(place, id));
      this.#found.add(keyOf(place, programIdOf(place.dialect, id)));
    }
  }

  has(session: SessionSummary): boolean {
    const { agent, model, status, title, since, until, tag, starred } = this.#filter;
    if (agent !== undefined && !isAgentMeant(session, agent)) return false;
    if (this.#isProject?.(session) === false) return false;
    if (model !== undefined && !isPart(model, session.model)) return false;
    if (status !== undefined && session.status !== status) return false;
    if (title !== undefined && !hasTitle(session, title)) return false;
    if (tag !== undefined && !session.tags.includes(tag)) return false;
    if (starred === true && session.starred !== true) return false;
    const at = session.updatedAt === null ? session.mtimeMs : Date.parse(session.updatedAt);
    return (since === undefined || at >= since) && (until === undefined || at < until);
  }

  /**
   * Another session that was found started it. Of a program only: rye's and Entire's children are
   * sessions of their own, and so is an orphan.
   */
  isSubagents({ dialect, root, id, parent }: SessionSummary): boolean {
    const { program } = dialectNamed(dialect);
    if (parent === null || parent === id || !program || program.hasForks) return false;
    return this.#found.has(keyOf({ dialect, root }, parent));
  }
}

/** A session that the user renamed is found by either title. */
function hasTitle({ title, recordedTitle = null }: SessionSummary, part: string): boolean {
  return isPart(part, title) || isPart(part, recordedTitle);
}

function isPart(part: string, text: string | null): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

export function keyOf({ dialect, root }: FoundStore, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}
