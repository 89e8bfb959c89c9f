/**
 * Time axis: above the transcript, a bar for each prompt, as high as its cost or its duration. A
 * click jumps there; the bar of the place being read is marked.
 */

import { useComputed } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { clockOf, counted } from "../words.ts";
import { barsOf, type Measure } from "./axis-bars.ts";
import { factsOf, titleOf } from "./exchange-words.tsx";
import type { Reading } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";

/** A bar of nothing is still a place. */
const LEAST_PERCENT = 6;
/** Of each bar, if there is room. */
const BAR_REM = 4;

export function TimeAxis(props: { readonly store: SessionStore; readonly reading: Reading }) {
  const { store, reading } = props;
  const exchanges = store.outline.exchanges.value;
  const prices = store.costs.prompts.value;
  const [chosen, choose] = useState<Measure>("cost");
  const { length } = exchanges;
  const failed = (n: number) => exchanges.number("failures", n);
  const ofCost = useMemo(() => {
    const costOf = (n: number) => {
      const start = exchanges.number("isPrompt", n) === 1 ? exchanges.startOf(n) : null;
      return store.costs.costAt(start) ?? exchanges.number("spend", n);
    };
    return barsOf(length, costOf, failed);
  }, [exchanges, prices]);
  const hasCosts = ofCost.some(({ value }) => value > 0);
  const measure = hasCosts ? chosen : "duration";
  const bars = useMemo(() => {
    if (measure === "cost") return ofCost;
    return barsOf(length, (n) => exchanges.number("tookMs", n), failed);
  }, [ofCost, measure]);
  const words = useMemo(
    () =>
      bars.map(({ first, count }) => {
        const exchange = exchanges.at(first);
        if (exchange === null) return { start: 0, label: "", title: "" };
        const { start } = exchange;
        const title = titleOf(exchange);
        const facts = factsOf(exchange, store.costs.ofPrompt(exchange));
        const label = count === 1 ? title : counted(count, "prompt");
        return { start, label, title: `${title}\n${facts}` };
      }),
    [bars],
  );
  const times = useMemo(() => [exchanges.at(0)?.at, exchanges.at(length - 1)?.until], [exchanges]);
  // Not the place itself, which changes with each frame of scrolling.
  const here = useComputed(() => {
    return store.outline.exchanges.value.lastUntil(reading.visible.value.from);
  }).value;
  if (bars.length < 2) return null;
  return (
    <nav class="time-axis" aria-label="Prompts over time">
      <span class="axis-time">{clockOf(times[0] ?? "")}</span>
      <ol style={{ flexBasis: `${bars.length * BAR_REM}rem` }}>
        {bars.map(({ first, count, height, failures }, n) => {
          const { start = 0, label, title } = words[n] ?? {};
          const isHere = here >= first && here < first + count;
          return (
            <li key={start}>
              <a
                href={store.hrefOf(start)}
                class={failures > 0 ? "axis-bar failed" : "axis-bar"}
                aria-current={isHere ? "location" : undefined}
                aria-label={label}
                title={title}
                onClick={() => void store.openAt(start)}
              >
                <span style={{ height: `${Math.max(LEAST_PERCENT, height * 100)}%` }} />
              </a>
            </li>
          );
        })}
      </ol>
      <span class="axis-time">{clockOf(times[1] ?? "")}</span>
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
