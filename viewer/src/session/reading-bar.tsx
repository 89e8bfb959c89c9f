/**
 * Reading bar: the prompt whose answer is being read, over the transcript, with its cost, time and
 * files; and the filter of what is shown, where the reader opens it.
 */

import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { go } from "../address.ts";
import { countText } from "../words.ts";
import { factsOf, shortFactsOf, titleOf } from "./exchange-words.tsx";
import {
  FILTERS,
  type FilterName,
  filterWords,
  formatFilter,
  NO_FILTER,
  toggleFilter,
} from "./filter.ts";
import { keepMarked } from "./mark-finds.ts";
import type { ReadingPosition } from "./reading.ts";
import { areFindsMarked, type SessionFinds, toggleFinds } from "./session-finds.ts";
import type { OutlineColumn } from "./session-outline.ts";
import type { SessionStore } from "./session-store.ts";
import { isInColumns, isWrapped, toggleColumns, toggleWrap } from "./wrap.ts";

interface BarProps {
  readonly store: SessionStore;
  readonly isExpanded: boolean;
  readonly expand: (is: boolean) => void;
  readonly isShown: boolean;
  /** The entry in the address. */
  readonly at: number | null;
}

export function FilterBar({ store, isExpanded, expand, isShown, at }: BarProps) {
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in one line. */}
      <div class="filter" hidden={!isShown} role="group" aria-label="Show only">
        {FILTERS.map((name) => (
          <Chip key={name} store={store} name={name} />
        ))}
        <button
          type="button"
          class="toggle"
          aria-pressed={isExpanded}
          aria-keyshortcuts="e"
          onClick={() => expand(!isExpanded)}
        >
          Expand all
        </button>
        <button
          type="button"
          class="toggle"
          aria-pressed={isWrapped.value}
          aria-keyshortcuts="w"
          onClick={toggleWrap}
        >
          Wrap
        </button>
        <button
          type="button"
          class="toggle columns"
          aria-pressed={isInColumns.value}
          title="Old and new lines of a change next to each other"
          onClick={toggleColumns}
        >
          Two columns
        </button>
        <FindMarks store={store} at={at} />
      </div>
      <Filtered store={store} />
    </>
  );
}

/** Not while the prompt itself is on the screen. */
export function CurrentPrompt(props: {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
}) {
  const { store, reading } = props;
  const { outline } = store;
  const here = useComputed(() => outline.index.value.lastUntil(reading.visible.value.from)).value;
  const exchange = outline.exchangeAt(here);
  const start = exchange?.start ?? 0;
  const isAbove = useComputed(() => start <= reading.above.value).value;
  if (exchange === null || !isAbove) return null;
  const cost = store.costs.ofPrompt(exchange);
  return (
    <p class="current-prompt">
      <a href={store.hrefOf(start)} title="To this prompt" onClick={() => void store.openAt(start)}>
        {titleOf(exchange)}
      </a>
      <span class="current-facts" title={factsOf(exchange, cost)}>
        {shortFactsOf(exchange, cost)}
      </span>
    </p>
  );
}

function Chip({ store, name }: { readonly store: SessionStore; readonly name: FilterName }) {
  const filter = store.filter.value;
  const count = countOf(store, name);
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={filter.has(name)}
      onClick={() => showOnly(store, formatFilter(toggleFilter(filter, name)))}
    >
      {WORDS[name]} {count !== null && <span class="toggle-count">{groupDigits(count)}</span>}
    </button>
  );
}

const WORDS: Readonly<Record<FilterName, string>> = {
  prompts: "Prompts",
  answers: "Answers",
  tools: "Tools",
  errors: "Errors",
  thinking: "Thinking",
  edits: "Edits",
};

const COLUMNS: Readonly<Partial<Record<FilterName, OutlineColumn>>> = {
  prompts: "isPrompt",
  tools: "calls",
  errors: "failures",
  edits: "edits",
};

/** Null while the outline is being read, and for kinds that it does not count. */
function countOf({ outline }: SessionStore, name: FilterName): number | null {
  if (outline.share.value < 1) return null;
  const column = COLUMNS[name];
  return column === undefined ? null : outline.index.value.sum(column);
}

/** Marks what `scan` finds, when the reader asks for it; the count leads to the next one. */
function FindMarks({ store, at }: { readonly store: SessionStore; readonly at: number | null }) {
  const { finds } = store;
  const scan = finds.scan.value;
  useEffect(() => (scan === null ? undefined : keepMarked(finds, at)), [finds, scan, at]);
  const next = () => {
    const start = finds.nextAfter(at);
    if (start === null) return;
    go({ page: "session", id: store.id, at: start, q: "", f: "" }, true);
    void store.openAt(start);
  };
  return (
    <>
      <button
        type="button"
        class="toggle"
        aria-pressed={areFindsMarked.value}
        title="Mark keys and personal data that scan finds: reads the whole session"
        onClick={toggleFinds}
      >
        Mark finds
      </button>
      {areFindsMarked.value && (
        <button type="button" class="toggle" disabled={!scan?.finds.length} onClick={next}>
          <span aria-live="polite">{scan === null ? scanText(finds) : findCount(scan)}</span>
        </button>
      )}
    </>
  );
}

function scanText(finds: SessionFinds): string {
  return finds.fault.value === null ? "Scanning…" : `Not scanned: ${finds.fault.value}`;
}

function findCount({ finds, isCut, unscanned }: NonNullable<SessionFinds["scan"]["value"]>) {
  const missed = unscanned === 0 ? "" : `, ${countText(unscanned, "line")} not scanned`;
  return `${isCut ? "First " : ""}${countText(finds.length, "find")}${missed}`;
}

/** The address keeps the filter: reloading and links show the same. */
function showOnly(store: SessionStore, f: string): void {
  go({ page: "session", id: store.id, at: null, q: "", f }, true);
}

function Filtered({ store }: { readonly store: SessionStore }) {
  const filter = store.filter.value;
  return (
    <p class="filtered" role="status">
      {filter.size > 0 && (
        <>
          Only {filterWords(filter)} are shown.{" "}
          <button
            type="button"
            class="quiet"
            onClick={() => showOnly(store, formatFilter(NO_FILTER))}
          >
            Show all
          </button>
        </>
      )}
    </p>
  );
}
