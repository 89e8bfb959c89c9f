/** Usage page: what agents used and what it cost, over time and by group. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { UsageReport } from "../../../src/client/usage-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { projectNames } from "../sessions/session-words.ts";
import { missingText, money, zone } from "../settings.ts";
import { countText, dayIn, dayText, shortCount } from "../words.ts";
import { Calendar } from "./calendar.tsx";
import { PeriodChoice, sinceDay, UsageChoice } from "./choice.tsx";
import { SettingsMenu } from "./settings-menu.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { chartOf, tokenParts, type UsageMeasure } from "./usage-sums.ts";
import { SumTable } from "./usage-tables.tsx";
import { useAnswer } from "./use-answer.ts";
import "./usage.css";

type By = UsageReport["by"];

const MEASURES: readonly (readonly [UsageMeasure, string])[] = [
  ["cost", "Cost"],
  ["total", "Tokens"],
];
const GROUPS: readonly (readonly [By, string])[] = [
  ["agent", "By agent"],
  ["project", "By project"],
  ["model", "By model"],
];
/** If other machines sent sessions. */
const SENDERS: readonly (readonly [By, string])[] = [
  ["user", "By user"],
  ["machine", "By machine"],
];
const TABLES = [
  ["Models", "Model", "models"],
  ["Projects", "Project", "projects"],
  ["Agents", "Agent", "agents"],
  ["Users", "User", "users"],
  ["Machines", "Machine", "machines"],
] as const;
/** Nothing, where nothing was used or its cost is not known. */
const AMOUNTS: Readonly<Record<UsageMeasure, (value: number) => string>> = {
  cost: (value) => (value === 0 ? "" : money(value)),
  total: (value) => (value === 0 ? "" : shortCount(value)),
};
/** Shown at first, if something was used in this time. */
const RECENT_DAYS = 30;

export function UsagePage({ client }: { readonly client: VerbatimClient }) {
  const [chosen, setPeriod] = useState<number | null>(null);
  const [isOld, setOld] = useState(false);
  const period = chosen ?? (isOld ? 0 : RECENT_DAYS);
  const [by, setBy] = useState<By>("agent");
  const [tz, since] = [zone.value, sinceDay(period)];
  const { answer: report, fault } = useAnswer(
    (signal) => client.usage({ tz, by, ...(since !== "" && { since }), signal }),
    [client, since, by, tz],
  );
  // All usage is older: an empty page would say nothing.
  const isBare = report?.total.responses === 0 && report.counting === null;
  useEffect(() => {
    if (chosen === null && isBare && report.calendar.length > 0) setOld(true);
  }, [chosen, isBare]);
  return (
    <main id="main" tabIndex={-1} class="page usage-page">
      <div class="usage-head">
        <h1>Usage</h1>
        <PeriodChoice chosen={period} choose={setPeriod} />
        <SettingsMenu />
      </div>
      {fault !== null && (
        <p class="usage-note" role="alert">
          {fault}
        </p>
      )}
      {report !== null && <Report report={report} isRecent={period > 0} by={by} setBy={setBy} />}
      {report === null && fault === null && <p class="usage-note">Adding up …</p>}
    </main>
  );
}

interface ReportProps {
  readonly report: UsageReport;
  readonly isRecent: boolean;
  readonly by: By;
  readonly setBy: (by: By) => void;
}

function Report({ report, isRecent, by, setBy }: ReportProps) {
  const { total, counting } = report;
  const [chosen, setMeasure] = useState<UsageMeasure | null>(null);
  const measure = chosen ?? ((total.cost ?? 0) > 0 ? "cost" : "total");
  const chart = useMemo(() => chartOf(report, measure), [report, measure]);
  const amount = AMOUNTS[measure];
  const groups = report.users.length > 0 ? [...GROUPS, ...SENDERS] : GROUPS;
  const title = `${measure === "cost" ? "Cost" : "Tokens"} per day (${report.zone})`;
  if (total.responses === 0 && counting !== null) return <Counting counting={counting} />;
  return (
    <>
      <Totals report={report} />
      {counting !== null && <Counting counting={counting} />}
      <Doubts report={report} />
      {total.responses === 0 && (
        <p class="usage-note">
          {isRecent ? "Nothing was used in this time." : "No agent has recorded usage yet."}
        </p>
      )}
      <div class="usage-charts">
        <section class="usage-card">
          <div class="usage-head">
            <h2>Over time</h2>
            <UsageChoice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
            <UsageChoice name="Group" options={groups} chosen={by} choose={setBy} />
          </div>
          <UsageChart chart={chart} title={title} amount={amount} isOfAgents={by === "agent"} />
        </section>
        <Calendar report={report} measure={measure} amount={amount} />
      </div>
      <div class="usage-columns">
        {TABLES.map(([title, head, list]) => {
          const all = report[list];
          const isOfSenders = list === "users" || list === "machines";
          if (isOfSenders && all.length === 0) return null;
          const names = list === "projects" ? projectNames(all.map(({ name }) => name)) : null;
          return (
            <SumTable
              key={list}
              title={title}
              head={head}
              groups={all}
              measure={measure}
              names={names}
            />
          );
        })}
      </div>
      <Prices report={report} />
    </>
  );
}

function Counting({ counting }: { readonly counting: NonNullable<UsageReport["counting"]> }) {
  const { done, total } = counting;
  const far = total > 0 ? `: ${groupDigits(done)} of ${groupDigits(total)}` : "";
  return (
    <p class="usage-note" role="status">
      Sessions are being counted{far} …
    </p>
  );
}

function Totals({ report: { total, models, cacheHitRate } }: { readonly report: UsageReport }) {
  const tokens = tokenParts(total);
  const missing = missingText(total, models.filter(({ unpriced }) => unpriced > 0).length);
  const parts = tokens.parts.map(({ name, text }) => `${text} ${name}`).join(" + ");
  return (
    <dl class="usage-totals">
      <Total
        name="Cost"
        value={total.responses === 0 ? "–" : total.cost === null ? "unknown" : money(total.cost)}
        more={[
          missing !== "" && `and ${missing}`,
          total.recorded !== null && `${money(total.recorded)} as agents recorded`,
        ]
          .filter((text) => text !== false)
          .join(" · ")}
      />
      <Total
        name="Tokens"
        value={tokens.total}
        title={`${groupDigits(Math.round(total.total))} tokens`}
        more={total.total === 0 ? "" : parts}
      />
      <Total
        name="Cache hit rate"
        value={cacheHitRate === null ? "–" : `${(cacheHitRate * 100).toFixed(1)} %`}
        more="of all input was read from a cache"
      />
      <Total name="Responses" value={groupDigits(total.responses)} />
    </dl>
  );
}

interface TotalProps {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
  readonly title?: string;
}

function Total({ name, value, more, title }: TotalProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>
        {value}
        {more !== undefined && more !== "" && <small>{more}</small>}
      </dd>
    </div>
  );
}

/** What in these figures is not certain. */
function Doubts({ report }: { readonly report: UsageReport }) {
  const { models, total, outside, unreadable, isCut } = report;
  const unpriced = models.filter((model) => model.unpriced > 0);
  const listed = unpriced.map(({ name, unpriced: tokens }) => {
    return `${pageText(name)} (${shortCount(tokens)} tokens)`;
  });
  const doubts = [
    listed.length > 0 && `No price is known for ${listed.join(", ")}: not in the cost.`,
    total.implausible > 0 &&
      `${countText(total.implausible, "response")} with a count that cannot be right, as recorded.`,
    total.unknownInputs > 0 &&
      `The input of ${countText(total.unknownInputs, "response")} was not recorded, and is in no sum.`,
    outside.responses > 0 &&
      `${countText(outside.responses, "response")} without a day in the chart: ` +
        "no time, a time in the future, or too long ago.",
    unreadable > 0 && `${countText(unreadable, "session")} could not be read.`,
    isCut && "There are more groups than are listed here.",
  ].filter((doubt) => doubt !== false);
  return doubts.length === 0 ? null : (
    <ul class="usage-doubts">
      {doubts.map((doubt) => (
        <li key={doubt}>{doubt}</li>
      ))}
    </ul>
  );
}

function Prices({ report: { prices } }: { readonly report: UsageReport }) {
  return (
    <details class="usage-prices">
      <summary>
        Prices: {prices.table} of {dayText(prices.date)}
      </summary>
      <ul>
        {prices.models.map(({ model, table, hash, at }) => (
          <li key={model}>
            {pageText(model)}:{" "}
            {hash === null
              ? "no known price"
              : `${table} ${hash}, decided ${dayText(dayIn(at ?? ""))}`}
          </li>
        ))}
      </ul>
    </details>
  );
}
