/**
 * Time axis: above the transcript, a bar for each prompt, as high as its cost or its duration. A
 * click jumps there; the bar of the place being read is marked.
 */

import { useComputed } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { Exchange } from "../../../src/client/session-shapes.ts";
import { clockOf, counted } from "../words.ts";
import { barsOf, type Measure, tookMs } from "./axis-bars.ts";
import { factsOf, titleOf } from "./exchange-words.tsx";
import type { Reading } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";

/** A bar of nothing is still a place. */
const LEAST_PERCENT = 6;
/** Of each bar, if there is room. */
const BAR_REM = 4;

export function TimeAxis(props: { readonly store: SessionStore; readonly reading: Reading }) {
  const { store, reading } = props;
  const exchanges = store.outline.shown.value;
  const prices = store.costs.prompts.value;
  const [chosen, choose] = useState<Measure>("cost");
  const costOf = (exchange: Exchange) => {
    return store.costs.ofPrompt(exchange)?.cost ?? exchange.spend ?? 0;
  };
  const hasCosts = useMemo(() => exchanges.some((each) => costOf(each) > 0), [exchanges, prices]);
  const measure = hasCosts ? chosen : "duration";
  const bars = useMemo(
    () => barsOf(exchanges, measure === "cost" ? costOf : (each) => tookMs(each) ?? 0),
    [exchanges, prices, measure],
  );
  const titles = useMemo(
    () =>
      bars.map(({ first }) => {
        const exchange = exchanges[first];
        if (exchange === undefined) return "";
        return `${titleOf(exchange)}\n${factsOf(exchange, store.costs.ofPrompt(exchange))}`;
      }),
    [bars],
  );
  // Not the place itself, which changes with each frame of scrolling.
  const here = useComputed(() => store.outline.indexAt(reading.visible.value.from)).value;
  if (bars.length < 2) return null;
  return (
    <nav class="time-axis" aria-label="Prompts over time">
      <span class="axis-time">{clockOf(exchanges[0]?.at ?? "")}</span>
      <ol style={{ flexBasis: `${bars.length * BAR_REM}rem` }}>
        {bars.map(({ first, count, height, failures }, n) => {
          const exchange = exchanges[first];
          if (exchange === undefined) return null;
          const isHere = here >= first && here < first + count;
          return (
            <li key={exchange.start}>
              <a
                href={store.hrefOf(exchange.start)}
                class={failures > 0 ? "axis-bar failed" : "axis-bar"}
                aria-current={isHere ? "location" : undefined}
                aria-label={count === 1 ? titleOf(exchange) : counted(count, "prompt")}
                title={titles[n]}
                onClick={() => void store.openAt(exchange.start)}
              >
                <span style={{ height: `${Math.max(LEAST_PERCENT, height * 100)}%` }} />
              </a>
            </li>
          );
        })}
      </ol>
      <span class="axis-time">{clockOf(exchanges.at(-1)?.until ?? "")}</span>
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
