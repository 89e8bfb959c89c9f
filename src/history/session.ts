/** Session: one session of a history. */

import { catalogPath } from "../core/base/node-paths.ts";
import type { BadEntry, EntryOptions, StoredEntry } from "../dialects/files/stored-entries.ts";
import { Catalog } from "../sessions/catalog/catalog.ts";
import { knownRowOf } from "../sessions/list/listing-row.ts";
import { documentOf } from "../sessions/list/session-document.ts";
import { openFoundSession } from "../sessions/list/session-place.ts";
import { renderEntry } from "../sessions/render/entry-markdown.ts";
import type { SessionSummary } from "../sessions/store/store-api.ts";
import { checkCall } from "./options.ts";
import type { Places } from "./places.ts";

export interface HistoryMarkdownOptions {
  /** Also the model's thinking. */
  readonly thinking?: boolean;
  /** False: only the names of tools. */
  readonly tools?: boolean;
  /** Gets lines that are not entries, which are left out. Default: a warning for each. */
  readonly onBadLine?: (bad: BadEntry) => void;
  readonly signal?: AbortSignal;
}

/** One session, to read. It takes no lock, and nothing is open between calls. */
export interface HistorySession {
  /** Of a file outside any store: the name of the file. */
  readonly id: string;
  readonly dialect: string;
  /** The store's directory. */
  readonly root: string;
  readonly path: string;
  /** What a list says about it; null for a file outside any store. */
  summary(): Promise<SessionSummary | null>;
  /** The entries in order. */
  entries(options?: EntryOptions): AsyncIterable<StoredEntry>;
  /** The last `count` entries, in order, however long the session. */
  last(count: number, options?: EntryOptions): Promise<StoredEntry[]>;
  /** The entries, and then those that any process appends, until the signal. */
  follow(options?: EntryOptions): AsyncIterable<StoredEntry>;
  /** The session as Markdown, piece by piece. */
  markdown(options?: HistoryMarkdownOptions): AsyncIterable<string>;
}

export async function openInHistory(places: Places, name: string): Promise<HistorySession> {
  const found = await places.find(name);
  const { dialect, root } = found;
  const session = openFoundSession(places.host, found);
  return {
    id: session.id,
    dialect,
    root,
    path: session.path,
    entries: (options) => session.entries(options),
    last: (count, options) => session.last(count, options),
    follow: (options) => session.follow(options),
    async summary() {
      const { id } = found;
      if (id === null) return null;
      const catalog = await Catalog.open(catalogPath());
      try {
        const row = await knownRowOf(places.host, catalog, { dialect, root }, id);
        return row && { ...row, dialect, root, path: session.path };
      } finally {
        catalog.close();
      }
    },
    markdown(options = {}) {
      checkCall<HistoryMarkdownOptions>("markdown", options, MARKDOWN_OPTIONS);
      const { thinking = false, tools = true, onBadLine, signal } = options;
      return documentOf(session, {
        thinking,
        toolDetails: tools,
        assistantMetadata: true,
        renderEntry: (entry) => renderEntry(entry, { thinking, tools }),
        onBadLine: onBadLine ?? ((bad) => warnOf(bad, session.path, places)),
        ...(signal && { signal }),
      });
    },
  };
}

function warnOf({ line, offset, reason }: BadEntry, path: string, { onWarning }: Places): void {
  if (reason === "blank") return; // Nothing is lost.
  onWarning(
    `${path}: ${line === null ? `byte ${offset}` : `line ${line}`} is left out (${reason})`,
  );
}

const MARKDOWN_OPTIONS = {
  thinking: "boolean",
  tools: "boolean",
  onBadLine: "function",
  signal: "object",
} as const;
