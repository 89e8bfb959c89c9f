/** Facet rail: agents, projects, models, verdicts and senders with counts and costs; each is a filter. */

import { useState } from "preact/hooks";
import type { Facet, SessionFacets } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits, moneyOf } from "../../../src/sessions/render/phrases.ts";
import { VERDICTS } from "../../../src/trust/proof/verdict.ts";
import { go } from "../address.ts";
import { AgentMark } from "../agent-mark.tsx";
import { SIGNS, TONES, VERDICT_WORDS } from "../proof/proof-words.ts";
import { formatRoute, type ListQuery } from "../route.ts";
import { cents } from "../words.ts";
import { type Choices, FilterChoice } from "./choice.tsx";
import type { FACETS } from "./filters.ts";
import { projectNames, shortModel } from "./session-words.ts";

/** Choices of a facet before "more". */
const SHOWN = 8;

const SUBAGENTS: Choices = [
  ["", "Without subagents"],
  ["all", "With subagents"],
];

interface RailProps {
  readonly filter: ListQuery;
  readonly facets: SessionFacets;
}

export function FacetRail({ filter, facets }: RailProps) {
  const names = projectNames(facets.projects.map(({ value }) => value));
  const models = facets.models.map(({ value }) => shortModel(value));
  const modelName = (value: string) => {
    const short = shortModel(value);
    return models.indexOf(short) === models.lastIndexOf(short) ? short : value;
  };
  const plain = (value: string) => value;
  const lists = [
    ["starred", "Yours", facets.starred, () => "★ Starred"],
    ["tag", "Tags", facets.tags, (value: string) => `#${value}`],
    ["agent", "Agents", facets.agents, plain],
    ["project", "Projects", facets.projects, (value: string) => names.get(value) ?? value],
    ["model", "Models", facets.models, modelName],
    ["verdict", "Proof", facets.verdicts, verdictLabel],
    ["user", "Users", facets.users, plain],
    ["machine", "Machines", facets.machines, plain],
  ] as const;
  return (
    <nav class="facets" aria-label="Filters">
      {lists.map(([name, heading, choices, labelOf]) => (
        <FacetList
          key={name}
          filter={filter}
          name={name}
          heading={heading}
          choices={choices}
          labelOf={({ value }) => labelOf(value)}
        />
      ))}
      <MoreFilters filter={filter} />
    </nav>
  );
}

function MoreFilters({ filter }: Pick<RailProps, "filter">) {
  const change = (changed: Partial<ListQuery>) => {
    go({ page: "sessions", filter: { ...filter, ...changed } });
  };
  return (
    <section aria-labelledby="facet-more">
      <h2 id="facet-more">Also</h2>
      <FilterChoice
        name="Subagents"
        value={filter.subagents}
        set={(subagents) => change({ subagents })}
        choices={SUBAGENTS}
      />
    </section>
  );
}

export function verdictLabel(value: string): string {
  const verdict = VERDICTS.find((each) => each === value);
  return verdict === undefined ? value : `${SIGNS[TONES[verdict]]} ${VERDICT_WORDS[verdict]}`;
}

interface FacetListProps {
  readonly filter: ListQuery;
  readonly name: (typeof FACETS)[number];
  readonly heading: string;
  readonly choices: readonly Facet[];
  readonly labelOf: (facet: Facet) => string;
}

function FacetList({ filter, name, heading, choices, labelOf }: FacetListProps) {
  const [isWhole, showWhole] = useState(false);
  const chosen = filter[name];
  // A chosen value stays, also if nothing has it under the other filters.
  const isListed = chosen === "" || choices.some(({ value }) => value === chosen);
  const all = isListed ? choices : [...choices, { value: chosen, sessions: 0, cost: null }];
  if (all.length === 0) return null;
  const shown = isWhole ? all : all.filter((each, at) => at < SHOWN || each.value === chosen);
  return (
    <section aria-labelledby={`facet-${name}`}>
      <h2 id={`facet-${name}`}>{heading}</h2>
      <ul>
        {shown.map((facet) => {
          const isOn = facet.value === chosen;
          const to = { ...filter, [name]: isOn ? "" : facet.value };
          return (
            <li key={facet.value}>
              <a
                class="facet"
                href={formatRoute({ page: "sessions", filter: to })}
                aria-current={isOn ? "true" : undefined}
                title={pageText(facet.value)}
              >
                <span class="facet-name">
                  {name === "agent" && <AgentMark label={facet.value} />}
                  {pageText(labelOf(facet))}
                </span>
                <span class="facet-cost" title={facet.cost === null ? "" : moneyOf(facet.cost)}>
                  {facet.cost === null ? "" : cents(facet.cost)}
                </span>
                <span class="facet-count">
                  {groupDigits(facet.sessions)}
                  <span class="unseen">{facet.sessions === 1 ? " session" : " sessions"}</span>
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      {all.length > shown.length && (
        <button type="button" class="quiet facet-more" onClick={() => showWhole(true)}>
          {all.length - shown.length} more
        </button>
      )}
    </section>
  );
}
