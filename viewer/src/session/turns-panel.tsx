/** Turns panel: the user's messages, one line each, with the cost of answering; for jumping. */

import { useEffect, useRef } from "preact/hooks";
import { shownText } from "../../../src/render/html/markup.ts";
import { sessionHref } from "../route.ts";
import { counted, shortCount, shortMoney } from "../words.ts";
import type { Reading } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";
import type { Turn } from "./turns.ts";

/** A longer list is shown around the reader. */
const SHOWN_MAX = 400;

interface PanelProps {
  readonly store: SessionStore;
  readonly reading: Reading;
  /** On small screens, where it can be hidden. */
  readonly isShown: boolean;
  readonly hide: () => void;
}

export function TurnsPanel({ store, reading, isShown, hide }: PanelProps) {
  const turns = store.outline.turns.value;
  const { from } = reading.visible.value;
  const here = Math.max(
    0,
    turns.findLastIndex(({ start }) => start <= from),
  );
  const first = Math.max(0, Math.min(here - SHOWN_MAX / 2, turns.length - SHOWN_MAX));
  const shown = turns.slice(first, first + SHOWN_MAX);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // Within the panel only: scrollIntoView would move what is around it, too.
    const panel = list.current?.parentElement;
    const current = list.current?.children[here - first];
    if (!panel || !current) return;
    const { top, bottom } = current.getBoundingClientRect();
    const frame = panel.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom)
      panel.scrollTop += top - frame.top - frame.height / 3;
  }, [here, first, shown.length]);
  return (
    <nav class={isShown ? "turns shown" : "turns"} aria-label="Prompts">
      <p class="turns-head">
        {counted(turns.filter(({ title }) => title !== null).length, "prompt")}
        {!store.outline.isWhole.value && turns.length > 0 && " loaded so far"}
      </p>
      <ol ref={list} start={first + 1}>
        {shown.map((turn, at) => (
          <li key={turn.start}>
            <a
              href={sessionHref(store.id, turn.start)}
              aria-current={first + at === here ? "location" : undefined}
              onClick={() => {
                hide();
                void store.openAt(turn.start); // Also when the route is the same already.
              }}
            >
              <span class="turn-title">{titleOf(turn)}</span>
              <span class="turn-facts">{factsOf(turn)}</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function titleOf({ title }: Turn): string {
  if (title === null) return "Before the first prompt";
  return title === "" ? "An empty text" : shownText(title);
}

function factsOf({ tokens, spend, calls, errors }: Turn): string {
  const facts = [
    tokens === null ? null : `${shortCount(tokens)} tokens`,
    spend === null ? null : shortMoney(spend),
    calls === 0 ? null : counted(calls, "call"),
    errors === 0 ? null : `${errors} failed`,
  ];
  return facts.filter((fact) => fact !== null).join(" · ");
}
