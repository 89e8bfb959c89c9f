/** Usage page: recorded usage of all sessions: over time, by model, by agent, by tool. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { UsageReport } from "../../../src/client/search-shapes.ts";
import { grouped } from "../../../src/render/phrases.ts";
import { isAbort, reasonOf } from "../server.ts";
import { counted, shortCount, shortMoney } from "../words.ts";
import { UsageChart } from "./usage-chart.tsx";
import {
  chartOf,
  type Group,
  lastDays,
  type Measure,
  type Period,
  sumOf,
  sumsBy,
} from "./usage-sums.ts";
import { SumTable, ToolTable } from "./usage-tables.tsx";
import "./usage.css";

const PERIODS: readonly (readonly [number, string])[] = [
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [0, "All time"],
];
const MEASURES: readonly (readonly [Measure, string])[] = [
  ["spend", "Spend"],
  ["tokens", "Tokens"],
  ["turns", "Turns"],
];
const GROUPS: readonly (readonly [Group, string])[] = [
  ["model", "By model"],
  ["agent", "By agent"],
];
/** Reload interval while sessions are read for the first time. */
const AGAIN_MS = 1_000;

const AMOUNTS: Readonly<Record<Measure, (value: number) => string>> = {
  spend: shortMoney,
  tokens: shortCount,
  turns: grouped,
};

export function UsagePage({ client }: { readonly client: VerbatimClient }) {
  const [period, setPeriod] = useState(30);
  const { report, fault } = useReport(client, period);
  return (
    <main id="main" tabIndex={-1} class="page usage-page">
      <div class="usage-head">
        <h1>Usage</h1>
        <Choice name="Period" options={PERIODS} chosen={period} choose={setPeriod} />
      </div>
      {fault !== null && (
        <p class="usage-note" role="alert">
          {fault}
        </p>
      )}
      {report !== null && <Report {...report} />}
      {report === null && fault === null && <p class="usage-note">Adding up …</p>}
    </main>
  );
}

/** A request, and the server's answer. */
interface Asked {
  readonly report: UsageReport;
  /** Null for all time. */
  readonly period: Period | null;
}

function useReport(client: VerbatimClient, days: number) {
  const [report, setReport] = useState<Asked | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    const left = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const period = days > 0 ? lastDays(days, Date.now()) : null;
      try {
        const asked = { signal: left.signal, ...(period && { since: period.first }) };
        const answer = await client.usage(asked);
        setReport({ report: answer, period });
        setFault(null);
        if (!answer.isComplete) again = setTimeout(ask, AGAIN_MS);
      } catch (cause) {
        if (!isAbort(cause)) setFault(reasonOf(cause));
      }
    };
    void ask();
    return () => {
      left.abort();
      clearTimeout(again);
    };
  }, [client, days]);
  return { report, fault };
}

function Report({ report, period }: Asked) {
  const { rows, tools, sessions, isComplete, isCut } = report;
  const total = useMemo(() => sumOf(rows), [rows]);
  const [chosen, setMeasure] = useState<Measure | null>(null);
  const [group, setGroup] = useState<Group>("model");
  const measure = chosen ?? (total.spend > 0 ? "spend" : "tokens");
  const chart = useMemo(
    () => chartOf(rows, group, measure, period),
    [rows, group, measure, period],
  );
  if (sessions === 0) return <Nothing isRecent={period !== null} isComplete={isComplete} />;
  const title = MEASURES.find(([name]) => name === measure)?.[1] ?? "";
  return (
    <>
      <dl class="usage-totals">
        <Total name="Spend" value={total.spend === 0 ? "–" : shortMoney(total.spend)} />
        <Total
          name="Tokens"
          value={shortCount(total.tokens)}
          more={`${shortCount(total.inputTokens)} in, ${shortCount(total.outputTokens)} out`}
        />
        <Total name="Turns" value={grouped(total.turns)} />
        <Total name="Sessions" value={grouped(sessions)} />
      </dl>
      {!isComplete && <p class="usage-note">Sessions are being read; the figures still grow.</p>}
      {isCut && (
        <p class="usage-note">There is more than one answer holds: choose a shorter time.</p>
      )}
      <section class="usage-card">
        <div class="usage-head">
          <h2>Over time</h2>
          <Choice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
          <Choice name="Group" options={GROUPS} chosen={group} choose={setGroup} />
        </div>
        <UsageChart chart={chart} title={`${title} per day (UTC)`} amount={AMOUNTS[measure]} />
      </section>
      <div class="usage-columns">
        <SumTable
          title="Models"
          head="Model"
          sums={sumsBy(rows, "model", measure)}
          measure={measure}
        />
        <SumTable
          title="Agents and directives"
          head="Agent"
          sums={sumsBy(rows, "agent", measure)}
          measure={measure}
        />
      </div>
      <ToolTable tools={tools} />
      <p class="usage-note">As recorded in the sessions: unrecorded usage is not included.</p>
    </>
  );
}

function Total(props: { readonly name: string; readonly value: string; readonly more?: string }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        {props.value}
        {props.more !== undefined && <small>{props.more}</small>}
      </dd>
    </div>
  );
}

function Nothing(props: { readonly isRecent: boolean; readonly isComplete: boolean }) {
  if (!props.isComplete) return <p class="usage-note">Sessions are being read …</p>;
  return (
    <div class="blank">
      <h2>Nothing was used{props.isRecent ? " in this time" : ""}</h2>
      <p>
        {props.isRecent
          ? "Choose a longer time above."
          : `Tokens and spend appear here as sessions record them (${counted(0, "session")} so far).`}
      </p>
    </div>
  );
}

interface ChoiceProps<T> {
  readonly name: string;
  readonly options: readonly (readonly [T, string])[];
  readonly chosen: T;
  readonly choose: (value: T) => void;
}

function Choice<T extends string | number>({ name, options, chosen, choose }: ChoiceProps<T>) {
  return (
    <fieldset class="usage-choice">
      <legend class="unseen">{name}</legend>
      {options.map(([value, title]) => (
        <button
          type="button"
          key={value}
          aria-pressed={value === chosen}
          onClick={() => choose(value)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}
