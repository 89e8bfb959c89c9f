import fc from "fast-check";
import { expect, test } from "vitest";
import {
  claimed,
  dueAtMs,
  expired,
  extended,
  finished,
  issued,
  mayTell,
  NEW_PHASE,
  type Phase,
  retryDelayMs,
  told,
  undelivered,
} from "./phase.ts";

test("retries wait 1, 2, 4 … 60 seconds, plus a random fifth at most", () => {
  const least = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((count) => retryDelayMs(count, 0));
  expect(least).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(retryDelayMs(1, 1)).toBe(1200);
  expect(retryDelayMs(8, 1)).toBe(72_000);
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (count, fraction) => {
      const delay = retryDelayMs(count + 1, fraction);
      expect(delay).toBeGreaterThanOrEqual(1000);
      expect(delay).toBeLessThanOrEqual(72_000);
    }),
  );
});

test("each wake has a new generation, whatever happened before", () => {
  // Method: random walks through all transitions.
  const steps: Record<string, (phase: Phase, at: number) => Phase> = {
    issued: (phase, at) => issued(phase, `w${at}`, at % 2 === 0 ? null : at + 5),
    claimed: (phase, at) => claimed(phase, "worker", at + 5),
    extended: (phase, at) => extended(phase, at + 5),
    told,
    undelivered: (phase, at) => undelivered(phase, at, 0),
    finished,
    expired: (phase, at) => expired(phase, at),
  };
  const walk = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 40 });
  fc.assert(
    fc.property(walk, (names) => {
      let phase = NEW_PHASE;
      const generationOf = new Map<string, number>();
      names.forEach((name, at) => {
        const next = steps[name]?.(phase, at) ?? phase;
        expect(next.generation).toBe(phase.generation + (name === "issued" ? 1 : 0));
        phase = next;
        if (phase.wake === null) return;
        const known = generationOf.get(phase.wake.id) ?? phase.generation;
        expect(phase.generation).toBe(known);
        generationOf.set(phase.wake.id, known);
      });
      expect(new Set(generationOf.values()).size).toBe(generationOf.size);
    }),
  );
});

test("a lease expires at its time and not a millisecond before", () => {
  const phase = claimed(issued(NEW_PHASE, "w", null), "worker", 500);
  expect(expired(phase, 499)).toBe(phase);
  expect(expired(phase, 500)).toEqual({ generation: 1, wake: null, retry: null });
  expect(dueAtMs(phase)).toBe(500);
});

test("an unclaimed pull-wake has no lease that could expire", () => {
  const phase = told(issued(NEW_PHASE, "w", null));
  expect(expired(phase, Number.MAX_SAFE_INTEGER)).toBe(phase);
  expect(dueAtMs(phase)).toBeNull();
});

test("a retry keeps its time when the lease expires first", () => {
  const failed = undelivered(issued(NEW_PHASE, "w", 300), 100, 0);
  expect(failed.retry).toEqual({ count: 1, atMs: 1100 });
  expect(dueAtMs(failed)).toBe(300);
  const cleared = expired(failed, 300);
  expect(cleared.wake).toBeNull();
  expect(dueAtMs(cleared)).toBe(1100);
  expect(mayTell(cleared, 1099)).toBe(false);
  expect(mayTell(cleared, 1100)).toBe(true);
  const again = undelivered(issued(cleared, "x", 9999), 1100, 0);
  expect(again.retry).toEqual({ count: 2, atMs: 3100 });
  expect(told(again).retry).toBeNull();
});
