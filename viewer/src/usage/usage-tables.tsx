/** Usage tables: usage by group, and which tools are slow or fail. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ToolUsageRow } from "../../../src/client/search-shapes.ts";
import { durationOf, grouped } from "../../../src/render/phrases.ts";
import { sessionHref } from "../route.ts";
import { shortCount, shortMoney } from "../words.ts";
import { type Measure, type NamedSum, orderedTools, type ToolOrder } from "./usage-sums.ts";

const ROWS_SHOWN = 12;

interface SumTableProps {
  readonly title: string;
  readonly head: string;
  readonly sums: readonly NamedSum[];
  readonly measure: Measure;
}

export function SumTable({ title, head, sums, measure }: SumTableProps) {
  const [isAll, showAll] = useState(false);
  const most = Math.max(...sums.map((sum) => sum[measure]), 0);
  const shown = isAll ? sums : sums.slice(0, ROWS_SHOWN);
  return (
    <section class="usage-card">
      <h2>{title}</h2>
      <FigureTable head={head} figures={["Spend", "Tokens", "Turns"]}>
        {shown.map((sum) => (
          <tr key={sum.name}>
            <th scope="row">
              <span class="usage-name">{sum.name}</span>
              <Bar share={most === 0 ? 0 : sum[measure] / most} />
            </th>
            <td class="usage-figure">{sum.spend === 0 ? "–" : shortMoney(sum.spend)}</td>
            <td class="usage-figure" title={grouped(sum.tokens)}>
              {shortCount(sum.tokens)}
            </td>
            <td class="usage-figure">{grouped(sum.turns)}</td>
          </tr>
        ))}
      </FigureTable>
      <More count={sums.length} isAll={isAll} toggle={() => showAll(!isAll)} />
    </section>
  );
}

interface FigureTableProps {
  readonly head: string;
  /** Headers of the numeric columns. */
  readonly figures: readonly string[];
  readonly children: ComponentChildren;
}

function FigureTable({ head, figures, children }: FigureTableProps) {
  return (
    <div class="usage-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {figures.map((figure) => (
              <th scope="col" class="usage-figure" key={figure}>
                {figure}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Bar({ share }: { readonly share: number }) {
  return <span class="usage-bar" aria-hidden="true" style={{ width: `${share * 100}%` }} />;
}

interface MoreProps {
  readonly count: number;
  readonly isAll: boolean;
  readonly toggle: () => void;
}

function More({ count, isAll, toggle }: MoreProps) {
  if (count <= ROWS_SHOWN) return null;
  return (
    <button type="button" class="quiet" aria-expanded={isAll} onClick={toggle}>
      {isAll ? "Fewer" : `All ${count}`}
    </button>
  );
}

const ORDERS: readonly (readonly [ToolOrder, string])[] = [
  ["calls", "Most called"],
  ["slowest", "Slowest"],
  ["failing", "Most failing"],
];

export function ToolTable({ tools }: { readonly tools: readonly ToolUsageRow[] }) {
  const [order, setOrder] = useState<ToolOrder>("calls");
  const [isAll, showAll] = useState(false);
  const ordered = orderedTools(tools, order);
  return (
    <section class="usage-card usage-tools">
      <h2>Tools</h2>
      <fieldset class="usage-choice">
        <legend class="unseen">Order of tools</legend>
        {ORDERS.map(([name, title]) => (
          <button
            type="button"
            key={name}
            aria-pressed={order === name}
            onClick={() => setOrder(name)}
          >
            {title}
          </button>
        ))}
      </fieldset>
      {ordered.length === 0 ? (
        <p class="usage-note">{order === "failing" ? "No call failed." : "Nothing is recorded."}</p>
      ) : (
        <ToolRows tools={isAll ? ordered : ordered.slice(0, ROWS_SHOWN)} />
      )}
      <More count={ordered.length} isAll={isAll} toggle={() => showAll(!isAll)} />
    </section>
  );
}

function ToolRows({ tools }: { readonly tools: readonly ToolUsageRow[] }) {
  return (
    <FigureTable head="Tool" figures={["Calls", "Failed", "Average", "Slowest"]}>
      {tools.map((row) => (
        <tr key={row.tool}>
          <th scope="row">
            <code>{row.tool}</code>
          </th>
          <td class="usage-figure">{grouped(row.calls)}</td>
          <td class={row.errors > 0 ? "usage-figure usage-failed" : "usage-figure"}>
            {failedWords(row)}
          </td>
          <td class="usage-figure">
            {row.timed === 0 ? "–" : durationOf(Math.round(row.totalMs / row.timed))}
          </td>
          <td class="usage-figure">
            <Slowest row={row} />
          </td>
        </tr>
      ))}
    </FigureTable>
  );
}

function Slowest({ row: { slowest, tool } }: { readonly row: ToolUsageRow }) {
  if (slowest === null) return <>–</>;
  const took = durationOf(slowest.ms);
  return (
    <a href={sessionHref(slowest.session, slowest.start)} aria-label={`${tool}: ${took}, show it`}>
      {took}
    </a>
  );
}

function failedWords({ errors, calls }: ToolUsageRow): string {
  if (errors === 0) return "0";
  return `${grouped(errors)} (${Math.round((100 * errors) / Math.max(1, calls))} %)`;
}
