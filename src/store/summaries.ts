/**
 * Summaries: reads what a listing says of a session: its log, and of rye's threads thread.json.
 *
 * Loaded only where something has to be read: with it comes most of the package.
 */

import type { Host } from "../base/host.ts";
import { type SessionStatus, type Summary, SummaryFold } from "../catalog/summary.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { Session } from "./session.ts";
import { readStoredMeta } from "./thread-files.ts";

export { SummaryFold };

/** The store whose sessions are read. */
export interface Summarised {
  readonly host: Host;
  readonly dialect: DialectName;
  readonly root: string;
  readonly open: (id: string) => Session;
}

export class Summaries {
  readonly #store: Summarised;

  constructor(store: Summarised) {
    this.#store = store;
  }

  async summarise(id: string): Promise<Summary> {
    const session = this.#store.open(id);
    const fold = new SummaryFold();
    let agent: string | null = null;
    try {
      for await (const entry of session.entries({ onBadLine: () => fold.addBadLine() })) {
        fold.add(entry);
        if (typeof entry.native.directive === "string") agent ??= entry.native.directive;
      }
    } finally {
      await session.release();
    }
    return fold.summary({ agent: await this.#agent(id, agent), status: await this.status(id) });
  }

  /** How a thread stands that has not ended, as thread.json has it. */
  async status(id: string): Promise<SessionStatus | null> {
    const { host, dialect, root } = this.#store;
    if (dialect !== "rye") return null;
    const status = (await readStoredMeta(host, root, id))?.status;
    return status === "running" || status === "paused" ? status : null;
  }

  /**
   * HomeAgent: the first half of the id. rye: what the events, else thread.json, else the id say.
   * entire: nothing says it.
   */
  async #agent(id: string, said: string | null): Promise<string | null> {
    const { host, dialect, root } = this.#store;
    if (dialect === "entire") return null;
    if (dialect === "homeagent") return id.slice(0, id.indexOf("/"));
    if (said !== null) return said;
    const meta = await readStoredMeta(host, root, id);
    return meta?.directive || id.replace(/-\d+$/, "");
  }
}
