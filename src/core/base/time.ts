/** Time: the date and timers, passed in so that a test can move them. */

export interface Time {
  readonly nowMs: () => number;
  /** Calls back once, after `ms`; returns a function that cancels it. */
  readonly setTimer: (ms: number, onTime: () => void) => () => void;
}

/** The real clock. Timers keep no process alive: what they are for does. */
export const nodeTime: Time = {
  nowMs: Date.now,
  setTimer: (ms, onTime) => {
    const timer = setTimeout(onTime, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Calls back every `ms`; returns a function that ends it. */
export function repeat(time: Time, ms: number, work: () => void): () => void {
  let cancel = () => {};
  const begin = () => {
    cancel = time.setTimer(ms, () => {
      begin(); // First: the work may end it.
      work();
    });
  };
  begin();
  return () => cancel();
}
