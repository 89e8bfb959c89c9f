import fc from "fast-check";
import { expect, test } from "vitest";
import {
  claimWake,
  dropExpiredWake,
  dueAtMs,
  endWake,
  extendLease,
  issueWake,
  markDelivered,
  mayTell,
  NEW_PHASE,
  type Phase,
  retryDelayMs,
  scheduleRetry,
} from "./subscription.ts";

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
    issued: (phase, at) => issueWake(phase, `w${at}`, at % 2 === 0 ? null : at + 5),
    claimed: (phase, at) => claimWake(phase, "worker", at + 5),
    extended: (phase, at) => extendLease(phase, at + 5),
    told: markDelivered,
    undelivered: (phase, at) => scheduleRetry(phase, at, 0),
    finished: endWake,
    expired: (phase, at) => dropExpiredWake(phase, at),
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
  const phase = claimWake(issueWake(NEW_PHASE, "w", null), "worker", 500);
  expect(dropExpiredWake(phase, 499)).toBe(phase);
  expect(dropExpiredWake(phase, 500)).toEqual({ generation: 1, wake: null, retry: null });
  expect(dueAtMs(phase)).toBe(500);
});

test("an unclaimed pull-wake has no lease that could expire", () => {
  const phase = markDelivered(issueWake(NEW_PHASE, "w", null));
  expect(dropExpiredWake(phase, Number.MAX_SAFE_INTEGER)).toBe(phase);
  expect(dueAtMs(phase)).toBeNull();
});

test("a retry keeps its time when the lease expires first", () => {
  const failed = scheduleRetry(issueWake(NEW_PHASE, "w", 300), 100, 0);
  expect(failed.retry).toEqual({ count: 1, atMs: 1100 });
  expect(dueAtMs(failed)).toBe(300);
  const cleared = dropExpiredWake(failed, 300);
  expect(cleared.wake).toBeNull();
  expect(dueAtMs(cleared)).toBe(1100);
  expect(mayTell(cleared, 1099)).toBe(false);
  expect(mayTell(cleared, 1100)).toBe(true);
  const again = scheduleRetry(issueWake(cleared, "x", 9999), 1100, 0);
  expect(again.retry).toEqual({ count: 2, atMs: 3100 });
  expect(markDelivered(again).retry).toBeNull();
});
