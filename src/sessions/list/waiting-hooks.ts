/**
 * Waiting hooks: moves recorded hooks from the spool into their sessions, before sessions are
 * listed or searched and regularly while the server runs. (Opening one session does it too:
 * sessions/store/store.ts.) If none wait, it costs one directory listing.
 */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { Store } from "../store/store.ts";
import type { FoundStore } from "./find-stores.ts";

const AGAIN_AFTER_MS = 500;

export interface WaitingHooksOptions {
  readonly host: Host;
  readonly stores: () => readonly FoundStore[];
  /** Called for hooks that cannot be moved, once for each fault. */
  readonly onFault: (what: string, cause: unknown) => void;
}

export class WaitingHooks {
  readonly #options: WaitingHooksOptions;
  readonly #timer: NodeJS.Timeout;
  #draining: Promise<void> | null = null;
  /** A run after the current one, for hooks that it may have missed. */
  #next: Promise<void> | null = null;
  #reported = "";

  constructor(options: WaitingHooksOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      if (this.#draining === null) void this.drain();
    }, AGAIN_AFTER_MS);
    this.#timer.unref();
    void this.drain();
  }

  /** Resolves when all waiting hooks were moved or have failed. Never throws. */
  drain(): Promise<void> {
    if (this.#draining === null) {
      this.#draining = this.#drainAll().finally(() => {
        this.#draining = null;
      });
      return this.#draining;
    }
    this.#next ??= this.#draining.then(() => {
      this.#next = null;
      return this.drain();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await (this.#next ?? this.#draining);
  }

  async #drainAll(): Promise<void> {
    const { host, stores } = this.#options;
    const onWarning = (warning: string) => this.#report(new Error(warning));
    try {
      for (const { dialect, root } of stores()) {
        if (!dialectNamed(dialect).inbox) continue;
        await new Store(host, { dialect, root, onWarning }).drainInbox();
      }
    } catch (cause) {
      this.#report(cause);
    }
  }

  #report(cause: unknown): void {
    const text = String(cause);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#options.onFault("putting recorded hooks into their sessions", cause);
  }
}
