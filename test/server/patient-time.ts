/**
 * Patient time: a clock that stops while the machine has no time for us. The public suite of
 * the protocol sleeps and then expects that a stream has expired, or has not; on a busy machine its
 * next request would come too late. Here the suite, its server and its store share this clock.
 *
 * It advances by some milliseconds at a time, however late the next step comes, and not at all while
 * a request is under way, unless that request waits for new data.
 */

import { afterAll, beforeAll } from "vitest";
import { ManualTime } from "../support/manual-time.ts";

const STEP_MS = 5;

/** Replaces the timers, `Date.now` and `fetch` of this process while the tests of a file run. */
export function patientTime(): ManualTime {
  const time = new ManualTime(Date.now());
  const { clearTimeout, fetch, setTimeout } = globalThis;
  const { now } = Date;
  let requests = 0;
  let ticking: NodeJS.Timeout | undefined;

  const countedFetch: typeof fetch = async (input, init) => {
    const isLive = /[?&]live=/.test(input instanceof Request ? input.url : String(input));
    requests += isLive ? 0 : 1;
    try {
      return await fetch(input, init);
    } finally {
      requests -= isLive ? 0 : 1;
    }
  };
  beforeAll(() => {
    ticking = setInterval(() => {
      if (requests === 0) time.pass(STEP_MS);
    }, STEP_MS);
    Date.now = time.nowMs;
    Object.assign(globalThis, {
      fetch: countedFetch,
      setTimeout: (onTime: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        new PatientTimer(time, ms, () => onTime(...args)),
      clearTimeout: (timer: unknown) => {
        if (timer instanceof PatientTimer) timer.cancel();
        else clearTimeout(timer as NodeJS.Timeout);
      },
    });
  });
  afterAll(() => {
    clearInterval(ticking);
    Date.now = now;
    Object.assign(globalThis, { clearTimeout, fetch, setTimeout });
  });
  return time;
}

/** What `setTimeout` returns in Node, as far as it is used. */
class PatientTimer {
  readonly #begin: () => () => void;
  cancel: () => void;

  constructor(time: ManualTime, ms: number, onTime: () => void) {
    this.#begin = () => time.setTimer(ms, onTime);
    this.cancel = this.#begin();
  }

  refresh(): this {
    this.cancel();
    this.cancel = this.#begin();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
