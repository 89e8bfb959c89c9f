/**
 * Follow into: adds entries that any process appends to the page as they come.
 *
 * - The client yields each entry once and in order, over lost connections and restarts
 *   (src/client/follow.ts). They are shown together, once a frame.
 * - A reader at the end stays there; a reader elsewhere sees how many came.
 */

import type { Signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionEvent } from "../../../src/client/follow.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { reasonOf, statusOf } from "../server.ts";
import {
  ENTRIES_MAX,
  type EntryWindow,
  itemsOf,
  trimWindow,
  withEntry,
  withHidden,
  withRewound,
} from "../session/entry-window.ts";
import { type EntryFilter, matching } from "../session/filter.ts";
import type { SessionOutline } from "../session/session-outline.ts";
import { isConnected } from "./lost-banner.tsx";

/** The part of the session store that following changes. */
export interface FollowTarget {
  readonly id: string;
  readonly client: VerbatimClient;
  readonly window: Signal<EntryWindow | null>;
  readonly arrived: Signal<number>;
  readonly notice: Signal<string | null>;
  readonly outline: SessionOutline;
  readonly filter: Signal<EntryFilter>;
  readonly isFollowing: boolean;
  headChanged(): void;
  lookAround(): Promise<void>;
}

/** A hidden page has no frames. */
const FRAME_MS = 30;

export async function followInto(
  store: FollowTarget,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  let waiting: SessionEvent[] = [];
  const show = () => {
    const events = waiting;
    waiting = [];
    if (!signal.aborted) take(store, events);
  };
  const onConnection = (is: boolean) => {
    isConnected.value = is;
  };
  const options = { from, native: false, signal, onConnection };
  try {
    for await (const event of store.client.sessions.follow(store.id, options)) {
      if (waiting.length === 0) setTimeout(show, FRAME_MS);
      waiting.push(event);
    }
  } catch (cause) {
    if (statusOf(cause) === 404) await store.lookAround();
    else store.notice.value = `New entries are no longer shown: ${reasonOf(cause)}`;
  } finally {
    isConnected.value = true;
  }
}

/** Whether the entry is visible. */
function isShown({ kind, entry }: EntryItem): boolean {
  return entry === null || kind === "message" || kind === "end";
}

function take(store: FollowTarget, events: readonly SessionEvent[]): void {
  let window = store.window.value;
  if (window === null) return;
  let came = 0;
  for (const event of events) {
    if (event.type === "rewound") {
      window = withRewound(window, event.to);
      store.outline.rewound(event.to);
      continue;
    }
    if (matching([event], store.filter.peek()).length === 0) {
      window = withHidden(window, event);
      continue;
    }
    if (event.start >= window.end && isShown(event)) came++;
    window = withEntry(window, event, store.isFollowing || itemsOf(window).length < ENTRIES_MAX);
  }
  // A reader at the end does not miss entries dropped far above; a reader above would.
  store.window.value = store.isFollowing ? trimWindow(window, "end") : window;
  if (!store.isFollowing) store.arrived.value += came;
  store.outline.refresh();
  store.headChanged();
}
