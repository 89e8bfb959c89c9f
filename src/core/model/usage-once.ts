/**
 * Usage once: yields entries in order, with a message's usage on its last entry only.
 *
 * Claude Code writes a row for each block of a message, each with the message's id and usage; the
 * last has the final count. Entries are held back until another message begins, at most
 * ENTRIES_HELD_MAX. Used for display only: nothing is counted here.
 */

import type { Entry } from "./entry.ts";

/** Results of tools that run at once are between the rows of a message. */
export const ENTRIES_HELD_MAX = 16;

/** Removes repeated usage from entries; other items, such as bad lines, pass through. */
export async function* usageOnce<Item extends object>(
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<Item> {
  const held = new HeldEntries<Item>();
  try {
    for await (const item of items) yield* held.add(item);
  } catch (error) {
    yield* held.end(); // Entries before the failure are shown.
    throw error;
  }
  yield* held.end();
}

/** Whether a later entry repeats this entry's usage; for callers that have all entries. */
export function isUsageRepeated(
  entries: readonly (Pick<Entry, "messageId" | "usage"> | null)[],
  at: number,
): boolean {
  const messageId = entries[at]?.messageId;
  if (messageId === undefined || !entries[at]?.usage) return false;
  for (const later of entries.slice(at + 1, at + 1 + ENTRIES_HELD_MAX)) {
    if (later?.messageId === undefined) continue;
    return later.messageId === messageId && later.usage !== null;
  }
  return false;
}

/** `add` returns the entries whose usage is final. */
class HeldEntries<Item extends object> {
  #held: Item[] = [];
  #messageId: string | null = null;

  *add(item: Item): Generator<Item> {
    const entry = entryIn(item);
    const messageId = entry?.messageId;
    if (messageId !== undefined && messageId !== this.#messageId) {
      yield* this.end();
      this.#messageId = messageId;
    } else if (messageId !== undefined && entry?.usage) {
      this.#held = this.#held.map(withoutUsage(messageId));
    }
    if (this.#messageId === null) {
      yield item;
      return;
    }
    this.#held.push(item);
    if (this.#held.length > ENTRIES_HELD_MAX) yield* this.end();
  }

  *end(): Generator<Item> {
    yield* this.#held;
    this.#held = [];
    this.#messageId = null;
  }
}

function withoutUsage<Item extends object>(messageId: string): (item: Item) => Item {
  return (item) => (entryIn(item)?.messageId === messageId ? { ...item, usage: null } : item);
}

function entryIn(item: object): Entry | null {
  return "kind" in item && "usage" in item ? (item as Entry) : null;
}

/** Usage of one tool. */
export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  /** Results that were errors. */
  readonly errors: number;
  /** Calls with a known duration, and their total. */
  readonly timed: number;
  readonly totalMs: number;
}
