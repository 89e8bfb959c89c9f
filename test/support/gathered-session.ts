/** A session that keeps its appends in memory, for tests of what is appended and when. */

import type { NewEntry } from "../../src/core/model/entry.ts";

export class GatheredSession {
  readonly entries: NewEntry[] = [];
  /** Thrown by `append` when set. */
  failure: Error | null = null;

  async append(entry: NewEntry): Promise<number> {
    if (this.failure) throw this.failure;
    return this.entries.push(entry);
  }

  /** The only entry. */
  get only(): NewEntry {
    const [entry, ...more] = this.entries;
    if (!entry || more.length > 0) throw new Error(`${this.entries.length} entries, not one`);
    return entry;
  }
}
