/**
 * Follow into: adds entries that any process appends to the page as they come.
 *
 * - The client yields each entry once and in order, over lost connections and restarts
 *   (src/client/follow.ts). They are shown together, once a frame.
 * - A reader at the end stays there; a reader elsewhere sees how many came.
 * - A log that was replaced or cut is opened again; then following goes on at its end.
 */

import type { Signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { faultText, statusOf } from "../fault-text.ts";
import {
  ENTRIES_MAX,
  type EntryWindow,
  itemsOf,
  trimWindow,
  withEntry,
  withHidden,
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
  reopen(): Promise<void>;
}

/** A hidden page has no frames. */
const FRAME_MS = 30;
/** Before a log that changed is read again, or a server is asked that refused. */
const PAUSE_MS = 500;

/** Follows until the signal, or until the session is gone. */
export async function followInto(
  store: FollowTarget,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  for (let place = from; !signal.aborted; place = store.window.peek()?.end ?? 0) {
    const status = await followFrom(store, place, signal);
    if (signal.aborted || !AGAIN.includes(status)) return;
    if (status !== UNAUTHORIZED) await store.reopen();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const UNAUTHORIZED = 401;
/** As if asked for a place that is not in the log. */
const CHANGED = 410;
/** Access that may come back; and places that the log no longer has. */
const AGAIN: readonly number[] = [UNAUTHORIZED, CHANGED, 416];

/** The status with which the server ended it; 0 if the page did. */
async function followFrom(store: FollowTarget, from: number, signal: AbortSignal): Promise<number> {
  let waiting: EntryItem[] = [];
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
      if (event.type === "rewound") {
        waiting = [];
        return CHANGED;
      }
      if (waiting.length === 0) setTimeout(show, FRAME_MS);
      waiting.push(event);
    }
    return 0;
  } catch (cause) {
    const status = statusOf(cause);
    if (status === 404) await store.lookAround();
    else if (!AGAIN.includes(status))
      store.notice.value = `New entries are no longer shown. ${faultText(cause)}`;
    return status;
  } finally {
    isConnected.value = true;
  }
}

/** Whether the entry is visible. */
function isShown({ kind, entry }: EntryItem): boolean {
  return entry === null || kind === "message" || kind === "end";
}

function take(store: FollowTarget, events: readonly EntryItem[]): void {
  let window = store.window.value;
  if (window === null) return;
  let came = 0;
  for (const event of events) {
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
