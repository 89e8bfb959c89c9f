/** Insights page: when, with what and on which files agents worked; the sessions behind a figure. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { InsightFigure, Insights } from "../../../src/client/insight-shapes.ts";
import { csvLine } from "../../../src/sessions/render/csv.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { go, route } from "../address.ts";
import { type InsightQuery, NO_INSIGHT } from "../route.ts";
import { saveAs } from "../session/export.ts";
import { FilterChoice } from "../sessions/choice.tsx";
import { costText, zone } from "../settings.ts";
import { PeriodChoice, sinceDay, UsageChoice } from "../usage/choice.tsx";
import { ShortText } from "../usage/short-text.tsx";
import { Bar, FigureTable } from "../usage/usage-tables.tsx";
import { useAnswer } from "../usage/use-answer.ts";
import { countText, shortCount } from "../words.ts";
import {
  figureText,
  fileTable,
  hourTable,
  hrefIn,
  type InsightCell,
  type InsightMeasure,
  type InsightTable,
  LISTS,
  MEASURES,
  modelTable,
  sessionTable,
  toolTable,
} from "./insight-tables.ts";
import "../usage/usage.css";
import "./insights.css";

interface ViewProps {
  readonly client: VerbatimClient;
  readonly query: InsightQuery;
}

/** Sessions and prompts in a list, and sessions behind a figure. */
const LISTED_MAX = 20;
const BEHIND_MAX = 500;

export function InsightsPage({ client }: Pick<ViewProps, "client">) {
  const query = route.value.page === "insights" ? route.value.query : NO_INSIGHT;
  const View = query.figure === "" ? Tables : Behind;
  return (
    <main id="main" tabIndex={-1} class="page usage-page insights-page">
      <View client={client} query={query} />
    </main>
  );
}

/** What both requests have: the range and the filters. */
function choiceIn({ days, figure: _, ...query }: InsightQuery) {
  const since = query.since || sinceDay(Number(days));
  const texts = Object.entries({ ...query, since }).filter(([, text]) => text !== "");
  return { tz: zone.value, ...Object.fromEntries(texts) };
}

function Tables({ client, query }: ViewProps) {
  const request = { ...choiceIn(query), limit: LISTED_MAX };
  const { answer, fault } = useAnswer(
    (signal) => client.insights({ ...request, signal }),
    [client, JSON.stringify(request)],
  );
  const choose = (more: Partial<InsightQuery>) => {
    go({ page: "insights", query: { ...query, ...more } });
  };
  return (
    <>
      <div class="usage-head">
        <h1>Insights</h1>
        <PeriodChoice
          chosen={Number(query.days)}
          choose={(days) => choose({ days: days === 0 ? "" : String(days) })}
        />
      </div>
      {answer !== null && <Filters insights={answer} query={query} choose={choose} />}
      <Fault fault={fault} />
      {answer?.isComplete !== true && fault === null && (
        <p class="usage-note" role="status">
          Sessions are being counted …
        </p>
      )}
      {answer !== null && <Report insights={answer} query={query} />}
    </>
  );
}

function Fault({ fault }: { readonly fault: string | null }) {
  if (fault === null) return null;
  return (
    <p class="usage-note" role="alert">
      {fault}
    </p>
  );
}

interface ReportProps {
  readonly insights: Insights;
  readonly query: InsightQuery;
}

/** A project is chosen by its whole name. */
const FILTERS = [
  ["agent", "agents", "Agent", ""],
  ["project", "projects", "Project", "="],
  ["machine", "machines", "Machine", ""],
  ["user", "users", "User", ""],
] as const;

function Filters(props: ReportProps & { choose: (more: Partial<InsightQuery>) => void }) {
  const { insights, query, choose } = props;
  const filters = FILTERS.filter(([name, list]) => insights[list].length > 0 || query[name] !== "");
  return (
    <div class="insight-filters">
      {filters.map(([name, list, title, sign]) => {
        const values = new Set([...insights[list].map((each) => sign + each), query[name]]);
        const choices = [...values].filter((value) => value !== "");
        const nameOf = (value: string) => value.slice(value.startsWith(sign) ? sign.length : 0);
        return (
          <FilterChoice
            key={name}
            name={title}
            value={query[name]}
            set={(value) => choose({ [name]: value })}
            choices={[
              ["", `All ${list}`],
              ...choices.map((value) => [value, pageText(nameOf(value))] as const),
            ]}
          />
        );
      })}
    </div>
  );
}

function Report({ insights, query }: ReportProps) {
  const { hours, zone, unreadable, isCut } = insights;
  const [measure, setMeasure] = useState<InsightMeasure>("responses");
  const [list, setList] = useState<(typeof LISTS)[number][0]>("sessions");
  const href = hrefIn(query);
  const untimed = hours.find(({ name }) => name === "unknown");
  const [, , figure] = LISTS.find(([name]) => name === list) ?? LISTS[0];
  const measures = (
    <UsageChoice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
  );
  return (
    <>
      <Totals total={insights.total} href={href} />
      <Card
        title={`Hours of the week (${zone})`}
        name="hours"
        table={hourTable(insights, measure, href)}
        isGrid
      >
        {measures}
        {untimed !== undefined && (
          <a class="usage-note" href={href({ figure: measure, hour: "unknown" })}>
            {countText(untimed.responses, "response")} without a time
          </a>
        )}
      </Card>
      <div class="usage-columns">
        <Card title="Tools" name="tools" table={toolTable(insights, href)} />
        <Card title="Most edited files" name="files" table={fileTable(insights, href)} />
        <Card
          title="Sessions and prompts"
          name={list}
          table={sessionTable(insights[list], figure, WORDS[figure])}
        >
          <UsageChoice
            name="List"
            options={LISTS.map(([name, title]) => [name, title] as const)}
            chosen={list}
            choose={setList}
          />
        </Card>
        <Card
          title={`Models and cache hits (${zone})`}
          name="models"
          table={modelTable(insights, measure, href)}
        >
          {measures}
        </Card>
      </div>
      <p class="usage-note">
        Tools, files and the longest prompts have days in UTC.
        {isCut && " There are more tools or files than are listed here."}
        {unreadable > 0 && ` ${countText(unreadable, "session")} could not be read.`}
      </p>
    </>
  );
}

function Totals({ total, href }: Pick<Insights, "total"> & { href: ReturnType<typeof hrefIn> }) {
  const totals = [
    ["responses", countText(total.responses, "response")],
    ["total", `${shortCount(total.total)} tokens`],
    ["cost", costText(total)],
  ] as const;
  return (
    <p class="insight-total">
      {totals.map(([figure, text]) => (
        <a key={figure} href={href({ figure })}>
          {text}
        </a>
      ))}
    </p>
  );
}

const WORDS: Readonly<Record<InsightFigure, string>> = {
  responses: "Responses",
  total: "Tokens",
  cost: "Cost",
  calls: "Calls",
  errors: "Failed calls",
  totalMs: "Time",
  edits: "Edits",
};

function Behind({ client, query }: ViewProps) {
  const { agent, project, machine, user, days, since, until, tool, file, hour, model } = query;
  const figure = query.figure as InsightFigure;
  const request = { ...choiceIn(query), figure, limit: BEHIND_MAX };
  const { answer, fault } = useAnswer(
    (signal) => client.figure({ ...request, signal }),
    [client, JSON.stringify(request)],
  );
  const about = [tool, file, hour, model, since, until, agent, project].filter(Boolean);
  const title = WORDS[figure] ?? figure;
  return (
    <>
      <p>
        <a href={hrefIn({ ...NO_INSIGHT, days, agent, project, machine, user })({})}>← Insights</a>
      </p>
      <h1>{title}</h1>
      <p class="usage-facts">{pageText(about.join(" · "))}</p>
      <Fault fault={fault} />
      {answer === null && fault === null && <p class="usage-note">Adding up …</p>}
      {answer !== null && (
        <Card
          title={`${figureText(answer.total, figure)} in ${countText(answer.count, "session")}`}
          name="sessions"
          table={sessionTable(answer.sessions, figure, title)}
        />
      )}
    </>
  );
}

interface CardProps {
  readonly title: string;
  /** Of its file. */
  readonly name: string;
  readonly table: InsightTable;
  /** Shaded cells, not bars. */
  readonly isGrid?: boolean;
  readonly children?: ComponentChildren;
}

function Card({ title, name, table, isGrid = false, children }: CardProps) {
  const { rows, csv } = table;
  const [first = "", ...figures] = table.head.map(pageText);
  const save = () => {
    const lines = csv.map((row) => csvLine(row.map((cell) => cell ?? "")));
    saveAs(`insights-${name}.csv`, lines, "text/csv");
  };
  return (
    <section class={`usage-card ${isGrid ? "insight-grid" : "insight-table"}`}>
      <div class="usage-head">
        <h2>{title}</h2>
        {children}
        <button type="button" aria-label={`${title} as CSV`} onClick={save}>
          CSV
        </button>
      </div>
      {csv.length <= 1 ? (
        <p class="usage-note">None in this time.</p>
      ) : (
        <FigureTable head={first} figures={figures}>
          {rows.map(([name, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{name && <Figure cell={name} />}</th>
              {cells.map((cell, column) => (
                <td key={figures[column]} class="usage-figure" style={{ "--share": cell.share }}>
                  <Figure cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </FigureTable>
      )}
    </section>
  );
}

function Figure({ cell: { text, href, label, share, facts } }: { readonly cell: InsightCell }) {
  return (
    <>
      {href === undefined ? (
        <span class="usage-name">
          <ShortText text={pageText(text)} words={pageText(label ?? text)} />
        </span>
      ) : (
        <a class="usage-name" href={href} aria-label={label} title={label}>
          {pageText(text)}
        </a>
      )}
      {facts !== undefined && <span class="usage-facts">{pageText(facts)}</span>}
      {share !== undefined && <Bar share={share} />}
    </>
  );
}
