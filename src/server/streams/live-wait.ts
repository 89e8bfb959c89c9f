/**
 * Live wait: one request waits until its stream changes, its time is over, its sender leaves or
 * loses its permission, or the server stops.
 *
 * A change between two calls of `next` is not missed: the second call resolves at once. So code
 * that first watches and then reads sees every append.
 */

import type { ServerResponse } from "node:http";
import { repeat, type Time } from "../../core/base/time.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";

/**
 * `over`: the time is over, the sender may not read any more, or the server stops. `left`: the
 * sender has left.
 */
export type WakeReason = "changed" | "over" | "left";

const TOUCH_MS_MAX = 15_000;
const TOUCH_MS_MIN = 100;

export class LiveWait {
  readonly #unwatch: () => void;
  readonly #response: ServerResponse;
  readonly #cancelTimer: () => void;
  readonly #leave: () => void;
  #woken: WakeReason | null = null;
  #wake: ((woken: WakeReason) => void) | null = null;

  constructor(
    context: ServerContext,
    path: string,
    response: ServerResponse,
    pass: Admission | null,
  ) {
    const over = () => this.#tell("over");
    this.#leave = context.readers.add(over, pass);
    this.#cancelTimer = context.time.setTimer(context.settings.longPollTimeoutMs, over);
    this.#unwatch = context.store.watch(path, () => this.#tell("changed"));
    this.#response = response;
    response.on("close", this.#onClose);
    if (context.readers.isStopping) over();
    if (response.destroyed) this.#onClose(); // It left before we listened.
  }

  next(): Promise<WakeReason> {
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
    this.#cancelTimer();
    this.#response.off("close", this.#onClose);
    this.#unwatch();
    this.#leave();
  }

  readonly #onClose = () => this.#tell("left");

  /** `over` and `left` replace a change, never the other way round. */
  #tell(woken: WakeReason): void {
    const wake = this.#wake;
    this.#wake = null;
    if (woken !== "changed" || (wake === null && this.#woken === null)) this.#woken = woken;
    wake?.(woken);
  }
}

/**
 * Renews a sliding lifetime now and then regularly, until the returned function is called: a stream
 * with waiting readers does not expire.
 */
export function keepTouched(store: StreamStore, head: StreamHead, time: Time): () => void {
  const { path, lifetime } = head;
  if (lifetime.kind !== "ttl") return () => {};
  store.touch(path);
  const third = (lifetime.seconds * 1000) / 3;
  const every = Math.min(TOUCH_MS_MAX, Math.max(TOUCH_MS_MIN, third));
  return repeat(time, every, () => store.touch(path));
}
