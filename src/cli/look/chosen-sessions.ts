/**
 * Chosen sessions: which sessions `ls` shows: all, or those of an agent or a project. A subagent's
 * session is shown only on request if the session that started it is listed.
 */

import { dialectNamed } from "../../dialects/all.ts";
import { type FoundStore, findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import {
  isAgentMeant,
  isDialectMeant,
  isKnownAgent,
  knownAgents,
  programIdOf,
  projectFilter,
  projectOf,
} from "../../sessions/list/whose.ts";
import { type SessionLine, summaryOf } from "../../sessions/store/list.ts";
import type { SessionSummary } from "../../sessions/store/store-api.ts";
import { type Io, UsageError } from "../command/command.ts";
import { progressOn } from "../command/interruption.ts";
import { NO_STORES } from "./store-notes.ts";

export interface SessionChoice {
  readonly agent: string | undefined;
  readonly project: string | undefined;
  /** Subagents too. */
  readonly isAll: boolean;
  readonly cwd: string;
}

const NAMES_LISTED_MAX = 40;

export class ChosenSessions {
  readonly #choice: SessionChoice;
  readonly #isProject: ((project: string | null) => boolean) | null;
  readonly #found = new Set<string>();
  readonly #agents = new Set<string>();
  readonly #projects = new Set<string>();
  #isAgentKnown: boolean;
  hidden = 0;

  constructor(choice: SessionChoice) {
    const { agent, project, cwd } = choice;
    this.#choice = choice;
    this.#isProject = project === undefined ? null : projectFilter(project, cwd);
    this.#isAgentKnown = agent === undefined;
  }

  /** Null if every session is shown, so that none has to be looked at. */
  get isShown(): ((line: SessionLine) => boolean) | null {
    const { agent, isAll } = this.#choice;
    if (isAll && agent === undefined && this.#isProject === null) return null;
    return (line) => this.#isShown(line);
  }

  /** The stores that may have sessions of the agent. */
  storesOf(stores: readonly FoundStore[]): FoundStore[] {
    const { agent } = this.#choice;
    if (agent === undefined) return [...stores];
    return stores.filter(({ dialect }) => {
      return isDialectMeant(dialect, agent) || dialectNamed(dialect).program === undefined;
    });
  }

  /** Call it with all sessions before any is shown. */
  found(lines: readonly SessionLine[]): void {
    if (this.isShown === null) return;
    for (const { id, place } of lines) {
      this.#found.add(keyOf(place, id));
      this.#found.add(keyOf(place, programIdOf(place.dialect, id)));
    }
  }

  /** Why nothing is shown; throws wrong usage if there is no such agent. */
  whyNone(): string | null {
    const { agent, project } = this.#choice;
    if (!this.#isAgentKnown && !isKnownAgent(agent ?? "")) {
      const names = [...[...this.#agents].sort(), ...knownAgents()].slice(0, NAMES_LISTED_MAX);
      throw new UsageError(`no agent is called ${agent}; known are ${names.join(", ")}`);
    }
    if (project === undefined) return agent === undefined ? null : `no sessions of ${agent}`;
    const names = [...this.#projects].sort().slice(0, NAMES_LISTED_MAX);
    const others = names.length > 0 ? `; sessions have these projects: ${names.join(", ")}` : "";
    return `no sessions of the project ${project}${others}`;
  }

  #isShown(line: SessionLine): boolean {
    const { agent, isAll } = this.#choice;
    const session = summaryOf(line);
    const project = projectOf(session);
    if (session.agent !== null) this.#agents.add(session.agent);
    if (project !== null) this.#projects.add(project);
    if (agent !== undefined) {
      if (!isAgentMeant(session, agent)) return false;
      this.#isAgentKnown = true;
    }
    if (this.#isProject?.(project) === false) return false;
    if (isAll || !this.#isSubagents(session)) return true;
    this.hidden++;
    return false;
  }

  /** Of a program: rye's and Entire's children are sessions of their own, and so is an orphan. */
  #isSubagents({ dialect, root, id, parent }: SessionSummary): boolean {
    const { program } = dialectNamed(dialect);
    if (parent === null || parent === id || !program || program.hasForks) return false;
    return this.#found.has(keyOf({ dialect, root }, parent));
  }
}

/** Why nothing was found, after a look at all sessions; throws wrong usage for an unknown agent. */
export async function whyNone(
  choice: SessionChoice,
  where: StoreLookup,
  io: Io,
): Promise<string | null> {
  const { listPage } = await import("../../sessions/list/list-page.ts");
  const chosen = new ChosenSessions(choice);
  const stores = chosen.storesOf(await findStores(where));
  if (stores.length === 0) return NO_STORES;
  const { isShown } = chosen;
  if (isShown === null) return null;
  await listPage(stores, { limit: 1, isShown, onProgress: progressOn(io), onWarning: () => {} });
  return chosen.whyNone();
}

function keyOf({ dialect, root }: FoundStore, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}
