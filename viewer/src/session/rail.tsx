/**
 * Rail: the whole log next to the transcript, by bytes: the reader's position, user messages, and a
 * way to jump anywhere, however long the session.
 */

import { useComputed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { ReadingPosition } from "./reading.ts";
import type { ExchangeIndex } from "./session-outline.ts";
import type { SessionStore } from "./session-store.ts";

/** More marks than lines of the screen would be a bar. */
const MARKS_MAX = 120;
const STEP = 0.02;

export function Rail({
  store,
  reading,
}: {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
}) {
  const rail = useRef<HTMLDivElement>(null);
  const end = store.window.value?.end ?? 0;
  const turns = store.outline.index.value;
  // Made once: the thumb alone changes with each frame of scrolling.
  const marks = useMemo(() => <Marks turns={turns} end={end} />, [turns, end]);
  // In thousandths, about a pixel: not each frame of scrolling draws the rail again.
  const part = (offset: number) => offset / (store.window.value?.end ?? 1);
  const from = useComputed(() => Math.round(part(reading.visible.value.from) * 1000)).value;
  const length = useComputed(() => {
    const { from, to } = reading.visible.value;
    return Math.ceil(Math.max(0, part(to - from) * 100));
  }).value;
  if (end === 0) return null;
  const percent = Math.round(from / 10);
  const point = (event: PointerEvent) => {
    const place = rail.current?.getBoundingClientRect();
    if (place) void store.toPart((event.clientY - place.top) / place.height);
  };
  const onKey = (event: KeyboardEvent) => {
    const goal = KEYS[event.key]?.(reading.visible.peek().from / end);
    if (goal === undefined) return;
    event.preventDefault();
    void store.toPart(goal);
  };
  return (
    <div
      ref={rail}
      class="rail"
      role="slider"
      tabIndex={0}
      aria-label="Place in the log"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={`${percent} % of the log`}
      onPointerDown={point}
      onKeyDown={onKey}
    >
      {marks}
      {/* Moved, not placed: a new place would be a layout of the page in each frame. */}
      <span class="rail-place" style={{ transform: `translateY(${from / 10}%)` }}>
        <span class="rail-thumb" style={{ height: `${length}%` }} />
      </span>
    </div>
  );
}

function Marks({ turns, end }: { readonly turns: ExchangeIndex; readonly end: number }) {
  const all = marksOf(turns);
  const lines = (isOfFailed: boolean) =>
    all
      .filter(({ isFailed }) => isFailed === isOfFailed)
      .map(({ start }) => `M0 ${((start / end) * 1000).toFixed(1)}h1`)
      .join("");
  return (
    <svg class="rail-marks" viewBox="0 0 1 1000" preserveAspectRatio="none" aria-hidden="true">
      <path d={lines(false)} />
      <path class="failed" d={lines(true)} />
    </svg>
  );
}

function marksOf(turns: ExchangeIndex): { start: number; isFailed: boolean }[] {
  const every = Math.max(1, Math.ceil(turns.length / MARKS_MAX));
  return Array.from({ length: Math.ceil(turns.length / every) }, (_, mark) => {
    const at = mark * every;
    return { start: turns.startOf(at), isFailed: turns.number("failures", at) > 0 };
  });
}

const KEYS: Readonly<Record<string, (part: number) => number>> = {
  ArrowDown: (part) => part + STEP,
  ArrowUp: (part) => part - STEP,
  PageDown: (part) => part + STEP * 5,
  PageUp: (part) => part - STEP * 5,
  Home: () => 0,
  End: () => 1,
};
