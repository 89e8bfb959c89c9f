/** Sessions page: all sessions, filtered or searched. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { SessionPage } from "../../../src/client/session-shapes.ts";
import { go } from "../address.ts";
import { DemoBanner } from "../demo/demo-banner.tsx";
import { type ListFilter, NO_FILTER } from "../route.ts";
import { client } from "../server.ts";
import { isTyping } from "../typing.ts";
import { STATUSES, wantedBy } from "./filters.ts";
import { ListStore } from "./list-store.ts";
import { SearchResults } from "./search-results.tsx";
import { SessionList } from "./session-list.tsx";

const DAYS = [
  ["1", "Last 24 hours"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
] as const;

export function SessionsPage({ filter }: { readonly filter: ListFilter }) {
  const { dialect, status, since } = filter;
  const asked = client.value;
  const wanted = useMemo(
    () => wantedBy({ ...NO_FILTER, dialect, status, since }),
    [...[dialect, status, since]],
  );
  const store = useMemo(() => new ListStore(asked, wanted), [asked, wanted]);
  useEffect(() => () => store.close(), [store]);
  const isFiltered = dialect !== "" || status !== "" || since !== "";
  return (
    <main id="main" tabIndex={-1} class="page list-page">
      <h1 class="unseen">Sessions</h1>
      <DemoBanner onRemoved={() => location.reload()} />
      <Toolbar filter={filter} kinds={store.kinds.value} />
      {filter.q.trim() === "" ? (
        <SessionList store={store} isFiltered={isFiltered} />
      ) : (
        <SearchResults filter={filter} />
      )}
    </main>
  );
}

interface ToolbarProps {
  readonly filter: ListFilter;
  readonly kinds: SessionPage["kinds"];
}

function Toolbar({ filter, kinds }: ToolbarProps) {
  const box = useRef<HTMLInputElement>(null);
  const change = (changed: Partial<ListFilter>, isSame = false) => {
    go({ page: "sessions", filter: { ...filter, ...changed } }, isSame);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
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
        onInput={({ currentTarget }) => change({ q: currentTarget.value }, filter.q !== "")}
      />
      <Choice name="Kind" value={filter.dialect} set={(dialect) => change({ dialect })}>
        {kindChoices(kinds, filter.dialect)}
      </Choice>
      <Choice name="Status" value={filter.status} set={(status) => change({ status })}>
        {STATUSES.map((each) => [each, each === "error" ? "failed" : each])}
      </Choice>
      <Choice name="Time" value={filter.since} set={(since) => change({ since })}>
        {DAYS}
      </Choice>
    </search>
  );
}

/** Those that the server has, and the one in the address. */
function kindChoices(kinds: SessionPage["kinds"], chosen: string): [string, string][] {
  const choices = kinds.map(({ dialect, program }): [string, string] => [
    dialect,
    program ?? dialect,
  ]);
  const isKnown = chosen === "" || choices.some(([dialect]) => dialect === chosen);
  return isKnown ? choices : [...choices, [chosen, chosen]];
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly children: readonly (readonly [value: string, name: string])[];
}

function Choice({ name, value, set, children }: ChoiceProps) {
  return (
    <select
      aria-label={name}
      class={value === "" ? "" : "chosen"}
      value={value}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    >
      <option value="">{ANY[name] ?? "Any"}</option>
      {children.map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
    </select>
  );
}

const ANY: Readonly<Record<string, string>> = {
  Kind: "Every kind",
  Status: "Any status",
  Time: "Any time",
};
