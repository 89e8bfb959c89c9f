/**
 * Reading bar: above the transcript: the prompt whose answer is being read, with its cost, time and
 * files, and the filter of what is shown.
 */

import { useComputed } from "@preact/signals";
import { go } from "../address.ts";
import { factsOf, shortFactsOf, titleOf } from "./exchange-words.tsx";
import {
  FILTERS,
  type FilterName,
  filterWords,
  formatFilter,
  NO_FILTER,
  toggleFilter,
} from "./filter.ts";
import type { ReadingPosition } from "./reading.ts";
import type { OutlineColumn } from "./session-outline.ts";
import type { SessionStore } from "./session-store.ts";
import { isWrapped, toggleWrap } from "./wrap.ts";

interface BarProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  readonly isExpanded: boolean;
  readonly expand: (is: boolean) => void;
  /** On small screens, where the filter can be hidden. */
  readonly isFilterShown: boolean;
}

export function ReadingBar({ store, reading, isExpanded, expand, isFilterShown }: BarProps) {
  return (
    <div class="reading-bar">
      <CurrentPrompt store={store} reading={reading} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in one line. */}
      <div class={isFilterShown ? "filter shown" : "filter"} role="group" aria-label="Show only">
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
      </div>
      <Filtered store={store} />
    </div>
  );
}

function CurrentPrompt(props: { readonly store: SessionStore; readonly reading: ReadingPosition }) {
  const { store, reading } = props;
  const { outline } = store;
  const here = useComputed(() => outline.index.value.lastUntil(reading.visible.value.from)).value;
  const exchange = outline.exchangeAt(here);
  if (exchange === null) return <p class="current-prompt" />;
  const { start } = exchange;
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
      {WORDS[name]} {count !== null && <span class="toggle-count">{count}</span>}
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
