/**
 * Summaries: reads a session's summary for a listing, from its log and its dialect's files.
 *
 * Loaded only if something has to be read: it imports most of the package.
 */

import type { Host } from "../../core/base/host.ts";
import type { Summary } from "../../core/model/summary.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { SessionStanding } from "../../dialects/facets/files.ts";
import { listedAside } from "../../dialects/facets/reading.ts";
import type { LogReadOptions, ReadSummary } from "../catalog/catalog.ts";
import { isReceived } from "../list/whose.ts";
import { projectFacts, projectOfStore } from "../summary/project.ts";
import { SummaryFold } from "../summary/summary.ts";
import { SummaryLines } from "../summary/summary-lines.ts";
import type { Session } from "./session.ts";

export { listedAside, SummaryFold };

export interface SummarisedStore {
  readonly host: Host;
  readonly dialect: string;
  readonly root: string;
  readonly open: (id: string) => Session;
}

export class Summaries {
  readonly #store: SummarisedStore;

  constructor(store: SummarisedStore) {
    this.#store = store;
  }

  async summarise(id: string, reading: LogReadOptions = {}): Promise<ReadSummary> {
    const session = this.#store.open(id);
    const lines = new SummaryLines(session.dialect, this.#store.root, id);
    try {
      const onBadLine = () => lines.fold.addBadLine();
      await session.each((entry) => lines.add(entry), { ...reading, onBadLine });
    } finally {
      await session.release();
    }
    const { children } = lines.fold;
    const summary = await this.finish(id, lines);
    return children.length === 0 ? summary : { ...summary, children };
  }

  /** The summary of all lines, with what the dialect's files say. */
  async finish(id: string, { fold, agent }: SummaryLines): Promise<Summary> {
    const { status, parent, agent: stored, about = {} } = await this.#standing(id);
    fold.learn(about);
    const { dialect, root } = this.#store;
    const summary = fold.summary({
      agent: this.#agentOf(id, agent ?? stored),
      status,
      parent,
      projectOf: (facts) => {
        // Its path on a server is of no project of the sender.
        return projectFacts(facts, isReceived(root) ? null : projectOfStore(dialect, root));
      },
    });
    const parentId = summary.parent === null ? null : await this.#idNamed(summary.parent);
    return parentId === null ? summary : { ...summary, parent: parentId };
  }

  /** Lines may name a session as its program does. */
  async #idNamed(name: string): Promise<string | null> {
    const { dialect, root } = this.#store;
    return (await dialectNamed(dialect).files?.load?.())?.idNamed?.(root, name) ?? null;
  }

  /** The status of a session that has not ended, and its parent, from the dialect's files. */
  async standing(id: string): Promise<Pick<Summary, "status" | "parent">> {
    const { status, parent } = await this.#standing(id);
    return { status, parent };
  }

  /** The session's agent; `said` is the agent that its entries name. */
  async agent(id: string, agentName: string | null): Promise<string | null> {
    return this.#agentOf(id, agentName ?? (await this.#standing(id)).agent);
  }

  #agentOf(id: string, agentName: string | null): string | null {
    const {
      naming: { agentOf },
      reading: { agentSaidIn },
    } = dialectNamed(this.#store.dialect);
    return (agentSaidIn && agentName) || (agentOf?.(id) ?? null);
  }

  async #standing(id: string): Promise<SessionStanding> {
    const { host, dialect, root } = this.#store;
    const files = await dialectNamed(dialect).files?.load?.();
    return (await files?.standingOf?.(host, root, id)) ?? UNKNOWN;
  }
}

const UNKNOWN: SessionStanding = { status: null, parent: null, agent: null };
