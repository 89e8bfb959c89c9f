/**
 * Live wait: one request waits for its stream to change, up to a time, for as long as its sender
 * is there and may read it, and the server goes on.
 *
 * LW1  A change between two calls of `next` is not missed: the next call resolves at once. So
 *      whoever watches first and reads then sees every append.
 */

import type { ServerResponse } from "node:http";
import type { StreamHead, StreamStore } from "../../streams/stream-store.ts";
import type { Pass } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";

/**
 * `over`: the time is up, its sender may not read any more, or the server stops. `left`: nobody is
 * there to be answered.
 */
export type Woken = "changed" | "over" | "left";

const TOUCH_MS_MAX = 15_000;
const TOUCH_MS_MIN = 100;

export class LiveWait {
  readonly #unwatch: () => void;
  readonly #response: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  readonly #leave: () => void;
  #woken: Woken | null = null;
  #wake: ((woken: Woken) => void) | null = null;

  constructor(context: ServerContext, path: string, response: ServerResponse, pass: Pass | null) {
    const over = () => this.#tell("over");
    this.#leave = context.readers.add(over, pass);
    this.#timer = setTimeout(over, context.settings.longPollTimeoutMs);
    this.#unwatch = context.store.watch(path, () => this.#tell("changed"));
    this.#response = response;
    response.on("close", this.#onClose);
    if (context.readers.isStopping) over();
    if (response.destroyed) this.#onClose(); // It left before we listened.
  }

  next(): Promise<Woken> {
    return new Promise((resolve) => {
      const woken = this.#woken;
      if (woken === null) {
        this.#wake = resolve;
        return;
      }
      if (woken === "changed") this.#woken = null;
      resolve(woken);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#response.off("close", this.#onClose);
    this.#unwatch();
    this.#leave();
  }

  readonly #onClose = () => this.#tell("left");

  /** What ends the wait outlasts a change, never the other way round. */
  #tell(woken: Woken): void {
    const wake = this.#wake;
    this.#wake = null;
    if (woken !== "changed" || (wake === null && this.#woken === null)) this.#woken = woken;
    wake?.(woken);
  }
}

/**
 * Begins a sliding lifetime anew now, and again and again until the answer is called: a stream that
 * somebody waits for does not expire.
 */
export function keepTouched(store: StreamStore, head: StreamHead): () => void {
  const { path, lifetime } = head;
  if (lifetime.kind !== "ttl") return () => {};
  store.touch(path);
  const third = (lifetime.seconds * 1000) / 3;
  const every = Math.min(TOUCH_MS_MAX, Math.max(TOUCH_MS_MIN, third));
  const timer = setInterval(() => store.touch(path), every);
  return () => clearInterval(timer);
}
