/**
 * Usage once: entries in order, with the usage of a message on the last entry that repeats it.
 *
 * Claude Code writes a row for each block of a message, each with the message's id and usage; the last
 * has the final count. Entries are held until another message begins, ENTRIES_HELD_MAX at most, and
 * leave in their order. Only for showing: nothing is counted here.
 */

import type { Entry } from "./entry.ts";

/** Results of tools that run at once stand between the rows of a message. */
export const ENTRIES_HELD_MAX = 16;

/** Items that are entries get their usage taken off; others, such as bad lines, pass through. */
export async function* usageOnce<Item extends object>(
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<Item> {
  const held = new HeldEntries<Item>();
  try {
    for await (const item of items) yield* held.add(item);
  } catch (error) {
    yield* held.end(); // What came before the failure is shown.
    throw error;
  }
  yield* held.end();
}

/** Whether an entry after that place repeats its usage; for those who have all entries at hand. */
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

/** `add` gives back the entries whose usage is known to be the last of its message. */
export class HeldEntries<Item extends object> {
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

  get isEmpty(): boolean {
    return this.#held.length === 0;
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
