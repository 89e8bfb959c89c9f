/** Toolbar: the search box, the order of the list, and the filters that are on. */

import type { RefObject } from "preact";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { go } from "../address.ts";
import { formatRoute, type ListQuery, NO_FILTER } from "../route.ts";
import { type Choices, FilterChoice } from "./choice.tsx";
import { verdictLabel } from "./facet-rail.tsx";
import { FACETS, isFiltered } from "./filters.ts";
import { step } from "./list-keys.ts";
import { projectNameOf, shortModel } from "./session-words.ts";

const ORDERS: Choices = [
  ["", "Latest first"],
  ["cost", "Most expensive first"],
  ["tokens", "Most tokens first"],
  ["duration", "Longest first"],
];

const FOUND: Choices = [
  ["", "All entries"],
  ["prompts", "Prompts"],
  ["answers", "Answers"],
  ["tools", "Tool calls and results"],
];

interface ToolbarProps {
  readonly filter: ListQuery;
  readonly box: RefObject<HTMLInputElement | null>;
  readonly isRailOpen: boolean;
  readonly toggleRail: () => void;
  readonly help: () => void;
}

export function Toolbar({ filter, box, isRailOpen, toggleRail, help }: ToolbarProps) {
  const change = (changed: Partial<ListQuery>, isSame = false) => {
    go({ page: "sessions", filter: { ...filter, ...changed } }, isSame);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && filter.q !== "") change({ q: "" });
    else if (event.key === "Escape") box.current?.blur();
    else if (event.key === "Enter" || event.key === "ArrowDown") step(1);
    else return;
    event.preventDefault();
  };
  return (
    <search class="toolbar">
      <input
        ref={box}
        class="search-box"
        type="search"
        placeholder="Search in all sessions"
        aria-label="Search in all sessions"
        aria-keyshortcuts="/"
        value={filter.q}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => change({ q: currentTarget.value }, filter.q !== "")}
      />
      <button
        type="button"
        class="rail-button"
        aria-expanded={isRailOpen}
        aria-controls="facets"
        onClick={toggleRail}
      >
        Filters
      </button>
      {filter.q === "" ? (
        <FilterChoice
          name="Order"
          value={filter.sort}
          set={(sort) => change({ sort })}
          choices={ORDERS}
        />
      ) : (
        <FilterChoice
          name="Find in"
          value={filter.kind}
          set={(kind) => change({ kind })}
          choices={FOUND}
        />
      )}
      <button type="button" class="quiet" onClick={help} aria-label="Keys" title="Keys ( ? )">
        ?
      </button>
      <Chips filter={filter} />
    </search>
  );
}

const LABELS: Readonly<Record<(typeof FACETS)[number], (value: string) => string>> = {
  starred: () => "★ Starred",
  tag: (value) => `#${value}`,
  agent: (value) => value,
  project: projectNameOf,
  model: shortModel,
  verdict: verdictLabel,
  machine: (value) => value,
  user: (value) => value,
};

/** The filters of the rail that are on: each is a link that removes it. */
function Chips({ filter }: { readonly filter: ListQuery }) {
  const on = FACETS.filter((name) => filter[name] !== "");
  if (on.length === 0 || !isFiltered(filter)) return null;
  const without = (to: ListQuery) => formatRoute({ page: "sessions", filter: to });
  const { sort, subagents } = filter;
  return (
    <p class="chips">
      {on.map((name) => (
        <a
          key={name}
          class="chip"
          href={without({ ...filter, [name]: "" })}
          aria-label={`Remove the filter ${name} ${pageText(filter[name])}`}
          title={pageText(filter[name])}
        >
          <span class="chip-name">{pageText(LABELS[name](filter[name]))}</span>
          <span aria-hidden="true">×</span>
        </a>
      ))}
      <a class="chip-clear" href={without({ ...NO_FILTER, sort, subagents })}>
        Clear
      </a>
    </p>
  );
}
