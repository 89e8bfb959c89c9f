/** Watchers: callbacks for changes of streams. */

import type { StreamHead } from "../stream-store.ts";

type OnChange = (head: StreamHead | null) => void;
type OnAnyChange = (path: string, head: StreamHead | null) => void;

export class Watchers {
  readonly #ofOne = new Map<string, Set<OnChange>>();
  readonly #ofAll = new Set<OnAnyChange>();

  watch(path: string, onChange: OnChange): () => void {
    const watching = this.#ofOne.get(path) ?? new Set();
    // A new function, so that the same callback may watch twice.
    const own: OnChange = (head) => onChange(head);
    watching.add(own);
    this.#ofOne.set(path, watching);
    return () => {
      watching.delete(own);
      if (watching.size === 0 && this.#ofOne.get(path) === watching) this.#ofOne.delete(path);
    };
  }

  watchAll(onChange: OnAnyChange): () => void {
    const own: OnAnyChange = (path, head) => onChange(path, head);
    this.#ofAll.add(own);
    return () => {
      this.#ofAll.delete(own);
    };
  }

  isWatched(path: string): boolean {
    return this.#ofAll.size > 0 || this.#ofOne.has(path);
  }

  tell(path: string, head: StreamHead | null): void {
    for (const onChange of [...(this.#ofOne.get(path) ?? [])]) undisturbed(() => onChange(head));
    for (const onChange of [...this.#ofAll]) undisturbed(() => onChange(path, head));
  }
}

/** A watcher's error becomes an uncaught exception and does not stop other work. */
function undisturbed(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
