/**
 * Time axis: above the transcript, a bar for each prompt, as high as its cost or its duration. A
 * click jumps there; the bar of the place being read is marked.
 */

import { useComputed } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { clockOf, countText } from "../words.ts";
import { type AxisMeasure, type Bar, barsOf } from "./axis-bars.ts";
import { factsOf, titleOf } from "./exchange-words.tsx";
import type { ReadingPosition } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";

/** A bar of nothing is still a place. */
const LEAST_PERCENT = 6;

interface AxisProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
}

export function TimeAxis({ store, reading }: AxisProps) {
  const { outline } = store;
  const index = outline.index.value;
  const [chosen, choose] = useState<AxisMeasure>("cost");
  const { bars, measure, hasCosts } = useBars(store, chosen);
  const { length } = index;
  const isAll = outline.share.value === 1;
  // Not the place itself, which changes with each frame of scrolling.
  const here = useComputed(() => outline.index.value.lastUntil(reading.visible.value.from)).value;
  const last = (column: "atMs" | "tookMs") => index.number(column, length - 1);
  // Its place is there before its bars are: rows below it do not move.
  if (bars.length < 2 || !isAll) return <div class="time-axis" />;
  return (
    <nav class="time-axis" aria-label="Prompts over time">
      <span class="axis-time">{clockAt(index.number("atMs", 0))}</span>
      <Bars store={store} bars={bars} here={here} />
      <span class="axis-time">{clockAt(last("atMs") && last("atMs") + last("tookMs"))}</span>
      {hasCosts && (
        <button
          type="button"
          class="toggle"
          title="What the height of a bar is"
          onClick={() => choose(measure === "cost" ? "duration" : "cost")}
        >
          {measure === "cost" ? "Cost" : "Duration"}
        </button>
      )}
    </nav>
  );
}

/** The bars by the chosen measure; by duration while no cost is known. */
function useBars({ outline, costs }: SessionStore, chosen: AxisMeasure) {
  const index = outline.index.value;
  const prices = costs.columns.value;
  const { length } = index;
  const failed = (n: number) => index.number("failures", n);
  const ofCost = useMemo(() => {
    const priced = new Map(prices?.start.map((start, n) => [start, prices.cost[n]]));
    const costOf = (n: number) => priced.get(index.startOf(n)) ?? index.number("spend", n);
    return barsOf(length, costOf, failed);
  }, [index, prices]);
  const hasCosts = ofCost.some(({ value }) => value > 0);
  const measure = hasCosts ? chosen : "duration";
  const bars = useMemo(() => {
    if (measure === "cost") return ofCost;
    return barsOf(length, (n) => index.number("tookMs", n), failed);
  }, [ofCost, measure]);
  return { bars, measure, hasCosts };
}

interface BarsProps {
  readonly store: SessionStore;
  readonly bars: readonly Bar[];
  /** The number of the prompt being read. */
  readonly here: number;
}

function Bars({ store, bars, here }: BarsProps) {
  const index = store.outline.index.value;
  /** The bar that is pointed at: only then its words are loaded, if it is of several prompts. */
  const [pointed, point] = useState(-1);
  const words = useBarWords(store, bars, pointed);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links within are reached by keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above.
    <div
      class="axis-bars"
      onPointerOver={(event) => point(barOf(event))}
      onFocusIn={(event) => point(barOf(event))}
      onClick={(event) => {
        const bar = bars[barOf(event)];
        if (bar) void store.openAt(index.startOf(bar.first));
      }}
    >
      {bars.map(({ first, count, height, failures }, n) => {
        const { href, name, title } = words[n] ?? {};
        const isHere = here >= first && here < first + count;
        return (
          // biome-ignore lint/a11y/useAnchorContent: its label says what it is; the bar is drawn.
          <a
            key={index.startOf(first)}
            href={href ?? ""}
            class={failures > 0 ? "axis-bar failed" : "axis-bar"}
            data-bar={n}
            aria-current={isHere ? "location" : undefined}
            aria-label={count === 1 ? name : countText(count, "prompt")}
            title={title}
            style={{ "--height": `${Math.max(LEAST_PERCENT, height * 100)}%` }}
          />
        );
      })}
    </div>
  );
}

interface BarWords {
  readonly href: string;
  readonly name: string;
  readonly title?: string;
}

function useBarWords(store: SessionStore, bars: readonly Bar[], pointed: number): BarWords[] {
  const { outline, costs } = store;
  const index = outline.index.value;
  return useMemo(
    () =>
      bars.map(({ first, count }, n) => {
        const isWanted = count === 1 || n === pointed;
        const exchange = isWanted ? outline.exchangeAt(first) : null;
        const href = store.hrefOf(index.startOf(first));
        if (exchange === null) return { href, name: `Prompt ${first + 1}` };
        const name = titleOf(exchange);
        return { href, name, title: `${name}\n${factsOf(exchange, costs.ofPrompt(exchange))}` };
      }),
    [bars, store.filter.value, pointed, outline.blocks.version.value, costs.loaded.value],
  );
}

/** The number of the bar that an event is about; -1: none. */
function barOf({ target }: Event): number {
  return target instanceof HTMLElement ? Number(target.dataset.bar ?? -1) : -1;
}

function clockAt(ms: number): string {
  return ms === 0 ? "" : clockOf(new Date(ms).toISOString());
}
