/** Toolbar: the search box, the filters that all look for, the order, and the filters that are on. */

import type { RefObject } from "preact";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { VERDICTS } from "../../../src/trust/proof/verdict.ts";
import { filterList } from "../address.ts";
import { type ListQuery, NO_FILTER } from "../route.ts";
import { type Choices, FilterChoice } from "./choice.tsx";
import { verdictLabel } from "./facet-rail.tsx";
import { FACETS, isFiltered, STATUSES } from "./filters.ts";
import { step } from "./list-keys.ts";
import { projectNameOf, shortModel } from "./session-words.ts";

const ORDERS: Choices = [
  ["", "Latest first"],
  ["cost", "Most expensive first"],
  ["tokens", "Most tokens first"],
  ["duration", "Longest first"],
];

const DAYS: Choices = [
  ["", "Time"],
  ["1", "Last 24 hours"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
];
const STATES: Choices = [
  ["", "Status"],
  ...STATUSES.map((each) => [each, each === "error" ? "failed" : each] as const),
];
const PROOFS: Choices = [
  ["", "Proof"],
  ...VERDICTS.map((verdict) => [verdict, verdictLabel(verdict)] as const),
];

const FOUND: Choices = [
  ["", "All entries"],
  ["prompts", "Prompts"],
  ["answers", "Answers"],
  ["tools", "Tool calls and results"],
];

/** The rail of the other filters, and the help. */
export interface ToolbarRail {
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly help: () => void;
}

interface ToolbarProps {
  readonly filter: ListQuery;
  readonly box: RefObject<HTMLInputElement | null> | undefined;
  readonly rail: ToolbarRail | undefined;
}

export function Toolbar({ filter, box, rail }: ToolbarProps) {
  const change = (changed: Partial<ListQuery>, isSame = false) => {
    filterList({ ...filter, ...changed }, isSame);
  };
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    if (event.key === "Escape" && filter.q !== "") change({ q: "" });
    else if (event.key === "Escape") event.currentTarget.blur();
    else if (event.key === "Enter" || event.key === "ArrowDown") step(1);
    else return;
    event.preventDefault();
  };
  return (
    <search class="toolbar">
      <input
        {...(box && { ref: box })}
        class="search-box"
        type="search"
        placeholder="Search in all sessions"
        aria-label="Search in all sessions"
        aria-keyshortcuts="/"
        value={filter.q}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => change({ q: currentTarget.value }, filter.q !== "")}
      />
      <QuickFilters filter={filter} change={change} />
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
      {rail && <RailButtons rail={rail} />}
      <Chips filter={filter} />
    </search>
  );
}

interface FiltersProps {
  readonly filter: ListQuery;
  readonly change: (changed: Partial<ListQuery>) => void;
}

function QuickFilters({ filter, change }: FiltersProps) {
  const isLive = filter.live !== "";
  return (
    <>
      <FilterChoice
        name="Time"
        value={filter.since}
        set={(since) => change({ since })}
        choices={DAYS}
      />
      <FilterChoice
        name="Status"
        value={filter.status}
        set={(status) => change({ status })}
        choices={STATES}
      />
      <FilterChoice
        name="Proof"
        value={filter.verdict}
        set={(verdict) => change({ verdict })}
        choices={PROOFS}
      />
      {filter.q === "" && (
        <button
          type="button"
          class="toggle"
          aria-pressed={isLive}
          title="Only sessions that are being written"
          onClick={() => change({ live: isLive ? "" : "true" })}
        >
          Live
        </button>
      )}
    </>
  );
}

function RailButtons({ rail: { isOpen, toggle, help } }: { readonly rail: ToolbarRail }) {
  return (
    <>
      <button
        type="button"
        class="rail-button"
        aria-expanded={isOpen}
        aria-controls="facets"
        onClick={toggle}
      >
        Filters
      </button>
      <button type="button" class="quiet" onClick={help} aria-label="Keys" title="Keys ( ? )">
        ?
      </button>
    </>
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

/** The filters of the rail that are on: a button removes each. */
function Chips({ filter }: { readonly filter: ListQuery }) {
  const on = FACETS.filter((name) => filter[name] !== "" && name !== "verdict");
  if (on.length === 0 || !isFiltered(filter)) return null;
  const { sort, subagents } = filter;
  return (
    <p class="chips">
      {on.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-label={`Remove the filter ${name} ${pageText(filter[name])}`}
          title={pageText(filter[name])}
          onClick={() => filterList({ ...filter, [name]: "" })}
        >
          <span class="chip-name">{pageText(LABELS[name](filter[name]))}</span>
          <span aria-hidden="true">×</span>
        </button>
      ))}
      <button
        type="button"
        class="quiet chip-clear"
        onClick={() => filterList({ ...NO_FILTER, sort, subagents })}
      >
        Clear
      </button>
    </p>
  );
}
