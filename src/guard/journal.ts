/**
 * Journal: the events of one guarded root (docs/formats/guard.md). It is open in one guard at a time,
 * which holds its lock.
 */

import type { Host } from "../core/base/host.ts";
import { LogWriter } from "../core/log/writer.ts";
import {
  applyEvent,
  type GuardRecord,
  JOURNAL,
  type JournalEvent,
  readGuardedRoot,
} from "../dialects/files/guard-store.ts";

export class GuardJournal {
  readonly directory: string;
  /** Those whose copies were removed, too. */
  readonly sessions: Map<string, GuardRecord>;
  readonly #log: LogWriter;
  readonly #nowMs: () => number;

  private constructor(
    directory: string,
    sessions: Map<string, GuardRecord>,
    log: LogWriter,
    nowMs: () => number,
  ) {
    this.directory = directory;
    this.sessions = sessions;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Refuses with LOG_LOCKED if another guard has it open. */
  static async open(
    host: Host,
    directory: string,
    { agent, root }: { readonly agent: string; readonly root: string },
    nowMs: () => number,
  ): Promise<GuardJournal> {
    const log = await LogWriter.open(host, JOURNAL, { root: directory });
    const known = log.end === 0 ? null : readGuardedRoot(directory);
    const sessions = new Map([...(known?.sessions ?? []), ...(known?.removed ?? [])]);
    const journal = new GuardJournal(directory, sessions, log, nowMs);
    if (log.end === 0) await journal.add([{ event: "guarding", agent, root }]);
    return journal;
  }

  /** Resolves when the events are durable. */
  async add(events: readonly JournalEvent[]): Promise<void> {
    if (events.length === 0) return;
    const at = new Date(this.#nowMs()).toISOString();
    const all: JournalEvent[] = events.map((event) => ({ v: 1, at, ...event }));
    await this.#log.appendLines(
      Buffer.from(all.map((event) => `${JSON.stringify(event)}\n`).join("")),
    );
    for (const event of all) applyEvent(this.sessions, event);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
