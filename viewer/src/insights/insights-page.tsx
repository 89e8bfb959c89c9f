/** Insights page: when, with what and on which files agents worked; the sessions behind a figure. */

import { useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { InsightFigure, Insights } from "../../../src/client/insight-shapes.ts";
import { csvLine } from "../../../src/sessions/render/csv.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { go, route } from "../address.ts";
import { type InsightQuery, NO_INSIGHT } from "../route.ts";
import { saveAs } from "../session/export.ts";
import { costText, zone } from "../settings.ts";
import { UsageChoice } from "../usage/choice.tsx";
import { ShortText } from "../usage/short-text.tsx";
import { dayAfter } from "../usage/usage-sums.ts";
import { useAnswer } from "../usage/use-answer.ts";
import { countText, dayIn, shortCount } from "../words.ts";
import {
  figureText,
  fileTable,
  hourTable,
  hrefIn,
  type InsightCell,
  type InsightList,
  type InsightMeasure,
  type InsightTable,
  LISTS,
  listTable,
  MEASURES,
  modelTable,
  sessionTable,
  toolTable,
} from "./insight-tables.ts";
import "../usage/usage.css";
import "./insights.css";

interface PageProps {
  readonly client: VerbatimClient;
}

const PERIODS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["", "All time"],
] as const;
/** Sessions and prompts in a list, and sessions behind a figure. */
const LISTED_MAX = 20;
const BEHIND_MAX = 500;

export function InsightsPage({ client }: PageProps) {
  const query = route.value.page === "insights" ? route.value.query : NO_INSIGHT;
  return (
    <main id="main" tabIndex={-1} class="page usage-page insights-page">
      {query.figure === "" ? (
        <Tables client={client} query={query} />
      ) : (
        <Behind client={client} query={query} />
      )}
    </main>
  );
}

/** What both requests have: the range and the filters. */
function chosenIn({ days, since, until, agent, project, machine, user }: InsightQuery) {
  const tz = zone.value;
  const first =
    since || (Number(days) > 0 ? dayAfter(dayIn(Date.now(), tz), 1 - Number(days)) : "");
  const named = { since: first, until, agent, project, machine, user };
  return { tz, ...Object.fromEntries(Object.entries(named).filter(([, text]) => text !== "")) };
}

interface ViewProps extends PageProps {
  readonly query: InsightQuery;
}

function Tables({ client, query }: ViewProps) {
  const asked = { ...chosenIn(query), limit: LISTED_MAX };
  const { answer, fault } = useAnswer(
    (signal) => client.insights({ ...asked, signal }),
    [client, JSON.stringify(asked)],
  );
  const choose = (more: Partial<InsightQuery>) => {
    go({ page: "insights", query: { ...query, ...more } });
  };
  return (
    <>
      <div class="usage-head">
        <h1>Insights</h1>
        <UsageChoice
          name="Period"
          options={PERIODS}
          chosen={query.days}
          choose={(days) => choose({ days })}
        />
      </div>
      {answer !== null && <Filters insights={answer} query={query} choose={choose} />}
      {fault !== null && (
        <p class="usage-note" role="alert">
          {fault}
        </p>
      )}
      {answer?.isComplete !== true && fault === null && (
        <p class="usage-note" role="status">
          Sessions are being counted …
        </p>
      )}
      {answer !== null && <Report insights={answer} query={query} />}
    </>
  );
}

interface ReportProps {
  readonly insights: Insights;
  readonly query: InsightQuery;
}

const FILTERS = [
  ["agent", "agents", "Agent", ""],
  ["project", "projects", "Project", "="],
  ["machine", "machines", "Machine", ""],
  ["user", "users", "User", ""],
] as const;

function Filters(props: ReportProps & { choose: (more: Partial<InsightQuery>) => void }) {
  const { insights, query, choose } = props;
  return (
    <div class="insight-filters">
      {FILTERS.filter(([name, list]) => insights[list].length > 0 || query[name] !== "").map(
        ([name, list, title, sign]) => (
          <label key={name}>
            {title}
            <select
              value={query[name]}
              onChange={(event) => choose({ [name]: event.currentTarget.value })}
            >
              <option value="">All</option>
              {[...new Set([...insights[list].map((each) => sign + each), query[name]])]
                .filter((value) => value !== "")
                .map((value) => (
                  <option key={value} value={value}>
                    {pageText(value.slice(value.startsWith(sign) ? sign.length : 0))}
                  </option>
                ))}
            </select>
          </label>
        ),
      )}
    </div>
  );
}

function Report({ insights, query }: ReportProps) {
  const { total, unreadable, isCut } = insights;
  const [measure, setMeasure] = useState<InsightMeasure>("responses");
  const [list, setList] = useState<InsightList>("sessions");
  const href = hrefIn(query);
  const { untimed, ...hours } = hourTable(insights, measure, href);
  const measures = (
    <UsageChoice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
  );
  const all = [
    ["responses", countText(total.responses, "response")],
    ["total", `${shortCount(total.total)} tokens`],
    ["cost", costText(total)],
  ] as const;
  return (
    <>
      <p class="insight-total">
        {all.map(([figure, text]) => (
          <a key={figure} href={href({ figure })}>
            {text}
          </a>
        ))}
      </p>
      <Card title={`Hours of the week (${insights.zone})`} name="hours" table={hours} isGrid>
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
        <Card title="Sessions and prompts" name={list} table={listTable(insights, list)}>
          <UsageChoice name="List" options={LISTS} chosen={list} choose={setList} />
        </Card>
        <Card
          title={`Models and cache hits (${insights.zone})`}
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
  const { figure, tool, file, hour, model } = query;
  const named = Object.entries({ tool, file, hour, model }).filter(([, text]) => text !== "");
  const asked = { ...chosenIn(query), ...Object.fromEntries(named), limit: BEHIND_MAX };
  const { answer, fault } = useAnswer(
    (signal) => client.figure({ ...asked, figure: figure as InsightFigure, signal }),
    [client, figure, JSON.stringify(asked)],
  );
  const back = { ...NO_INSIGHT, days: query.days };
  const { agent, project, machine, user } = query;
  const about = [...named.map(([, text]) => text), query.since, query.until, agent, project];
  const title = WORDS[figure as InsightFigure] ?? figure;
  const amount = answer && figureText(answer.total, answer.figure);
  return (
    <>
      <p>
        <a href={hrefIn({ ...back, agent, project, machine, user })({})}>← Insights</a>
      </p>
      <h1>{title}</h1>
      <p class="usage-facts">{pageText(about.filter(Boolean).join(" · "))}</p>
      {fault !== null && (
        <p class="usage-note" role="alert">
          {fault}
        </p>
      )}
      {answer === null && fault === null && <p class="usage-note">Adding up …</p>}
      {answer !== null && (
        <Card
          title={`${amount} in ${countText(answer.count, "session")}`}
          name="sessions"
          table={sessionTable(answer.sessions, answer.figure, title)}
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
  readonly children?: preact.ComponentChildren;
}

function Card({ title, name, table, isGrid = false, children }: CardProps) {
  const { head, rows, csv } = table;
  const save = () => {
    saveAs(
      `insights-${name}.csv`,
      csv.map((row) => csvLine(row.map((cell) => cell ?? ""))),
      "text/csv",
    );
  };
  return (
    <section class="usage-card">
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too.
        <section class="usage-scroll" tabIndex={0} aria-label={title}>
          <table class={isGrid ? "insight-grid" : "insight-table"}>
            <thead>
              <tr>
                {head.map((text, n) => (
                  <th scope="col" key={text} class={n > 0 ? "usage-figure" : undefined}>
                    {pageText(text)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([first, ...cells], row) => (
                <tr key={row}>
                  <th scope="row">{first && <Figure cell={first} />}</th>
                  {cells.map((cell, column) => (
                    <td
                      key={head[column + 1]}
                      class={`usage-figure shade-${isGrid ? Math.ceil((cell.share ?? 0) * 4) : 0}`}
                    >
                      <Figure cell={isGrid ? { ...cell, share: undefined } : cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Figure({
  cell,
}: {
  readonly cell: Omit<InsightCell, "share"> & { share?: number | undefined };
}) {
  const { text, href, label, share, facts } = cell;
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
      {share !== undefined && (
        <span class="usage-bar" aria-hidden="true" style={{ width: `${share * 100}%` }} />
      )}
    </>
  );
}
