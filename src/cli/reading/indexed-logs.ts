/**
 * Indexed logs: the logs that the search index was found to have, in a file next to it, so that a
 * search of unchanged histories neither asks the index for them nor makes their ids.
 *
 * - It is valid for one state of the index: sizes and times of its files, which are examined after it
 *   was opened and before it is read. Every change of the index changes these.
 * - The list is stored by a search that found every log indexed, so never by one that wrote.
 */

import { statSync } from "node:fs";
import { keepText, linesOf, readKept } from "../../catalog/kept-text.ts";
import { SEARCH_SCHEMA } from "../../catalog/search/index-table.ts";
import type { FoundLog } from "../../catalog/session-row.ts";
import { versionOf } from "../../catalog/sqlite.ts";
import type { FoundStore } from "../../listing/find-stores.ts";
import { changedLogs } from "./changed-logs.ts";

/** Fewer logs are not worth a file. */
const KEPT_FROM_LOGS = 100;
/** A file that changed more recently may change again without getting another time. */
const REST_MS = 1000;

export class IndexedLogs {
  readonly #path: string;
  readonly #stores: readonly FoundStore[];
  readonly #question: string;
  readonly #nowMs: number;
  readonly #isAtRest: boolean;
  readonly #found: FoundLog[] = [];
  #isAll = true;

  /** Call it after the index was opened. */
  constructor(indexPath: string, stores: readonly FoundStore[], nowMs: number) {
    const files = [indexPath, `${indexPath}-wal`].map((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats && stats.size > 0 ? [stats.ino, stats.size, stats.mtimeMs] : null;
    });
    const places = stores.map(({ dialect, root }) => [dialect, root]);
    this.#path = `${indexPath}.logs`;
    this.#stores = stores;
    this.#question = JSON.stringify([versionOf(SEARCH_SCHEMA), files, places]);
    this.#nowMs = nowMs;
    this.#isAtRest = files.every((file) => nowMs - (file?.[2] ?? 0) >= REST_MS);
  }

  /** Whether the index has all logs as they are. */
  areCurrent(): boolean {
    const kept = readKept(this.#path, { question: this.#question, nowMs: this.#nowMs });
    return kept !== null && changedLogs(kept.logs, this.#stores, 0) !== null;
  }

  readonly add = (log: FoundLog, isIndexed: boolean): void => {
    this.#found.push(log);
    if (!isIndexed) this.#isAll = false;
  };

  /** Stores the list, unless the index lacks a log. */
  keep(): void {
    if (!this.#isAll || !this.#isAtRest || this.#found.length < KEPT_FROM_LOGS) return;
    keepText(this.#path, { question: this.#question, untilMs: null }, linesOf(this.#found), "");
  }
}
