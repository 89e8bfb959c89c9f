/**
 * Summaries: reads what a listing says of a session: its log, and of rye's threads thread.json.
 *
 * Loaded only where something has to be read: with it comes most of the package.
 */

import type { Host } from "../base/host.ts";
import { SummaryFold } from "../catalog/summary.ts";
import { keyOf } from "../dialects/claude/session-id.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { listedAside } from "../dialects/listed-aside.ts";
import { readStoredMeta } from "../dialects/rye/files/thread-files.ts";
import type { StoredThreadMeta } from "../dialects/rye/thread-meta.ts";
import type { Summary } from "../model/summary.ts";
import type { Session } from "./session.ts";

export { listedAside, SummaryFold };

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
    const { dialect } = session;
    const fold = new SummaryFold();
    let agent: string | null = null;
    try {
      for await (const entry of session.entries({ onBadLine: () => fold.addBadLine() })) {
        fold.add(
          entry,
          listedAside(dialect, entry.native, id),
          dialect.signing.turnMark(entry.native, id),
        );
        if (typeof entry.native.directive === "string") agent ??= entry.native.directive;
      }
    } finally {
      await session.release();
    }
    const meta = await this.#meta(id);
    return fold.summary({
      agent: agentOf(this.#store.dialect, id, agent ?? meta?.directive),
      ...standingOf(meta),
    });
  }

  /** How a thread stands that has not ended, and which one began it, as thread.json has it. */
  async standing(id: string): Promise<Standing> {
    return standingOf(await this.#meta(id));
  }

  /** Whose session it is, when `said` is what its entries say of that. */
  async agent(id: string, said: string | null): Promise<string | null> {
    const meta = said === null ? await this.#meta(id) : null;
    return agentOf(this.#store.dialect, id, said ?? meta?.directive);
  }

  async #meta(id: string): Promise<StoredThreadMeta | null> {
    const { host, dialect, root } = this.#store;
    return dialect === "rye" ? readStoredMeta(host, root, id) : null;
  }
}

type Standing = Pick<Summary, "status" | "parent">;

function standingOf(meta: StoredThreadMeta | null): Standing {
  const status = meta?.status;
  return {
    status: status === "running" || status === "paused" ? status : null,
    parent: meta?.parent_thread_id || null,
  };
}

/**
 * HomeAgent: the first half of the id, and in Claude's the project. rye: what the events, else
 * thread.json, else the id say. entire: nothing says it.
 */
function agentOf(dialect: DialectName, id: string, said: string | null | undefined): string | null {
  if (dialect === "entire" || dialect === "streams" || dialect === "verbatim") return null;
  if (dialect === "homeagent" || dialect === "sdk") return id.slice(0, id.indexOf("/"));
  if (dialect === "claude") return keyOf(id)?.projectKey ?? null;
  return said || id.replace(/-\d+$/, "");
}
