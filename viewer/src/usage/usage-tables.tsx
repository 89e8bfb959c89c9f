/** Usage tables: usage by group, and which tools are slow or fail. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ToolUsageRow } from "../../../src/client/search-shapes.ts";
import type { CountedGroup } from "../../../src/client/usage-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { durationOf, groupDigits } from "../../../src/sessions/render/phrases.ts";
import { sessionHref } from "../route.ts";
import { shortCount } from "../words.ts";
import { Cost } from "./short-text.tsx";
import { orderedTools, type ToolOrder, type UsageMeasure } from "./usage-sums.ts";

const ROWS_SHOWN = 12;

interface SumTableProps {
  readonly title: string;
  readonly head: string;
  readonly groups: readonly CountedGroup[];
  readonly measure: UsageMeasure;
  /** Shorter names of groups; the whole name is shown on hover. */
  readonly names?: ReadonlyMap<string, string>;
}

export function SumTable({ title, head, groups, measure, names }: SumTableProps) {
  const [isAll, showAll] = useState(false);
  const sorted = [...groups].sort((one, other) => (other[measure] ?? 0) - (one[measure] ?? 0));
  const most = Math.max(...sorted.map((group) => group[measure] ?? 0), 0);
  const shown = isAll ? sorted : sorted.slice(0, ROWS_SHOWN);
  return (
    <section class="usage-card">
      <h2>{title}</h2>
      {groups.length === 0 && <p class="usage-note">None in this time.</p>}
      <FigureTable head={head} figures={["Cost", "Tokens"]}>
        {shown.map((group) => (
          <tr key={group.name}>
            <th scope="row">
              <span class="usage-name" title={pageText(group.name)}>
                {pageText(names?.get(group.name) ?? group.name)}
              </span>
              <Bar share={most === 0 ? 0 : (group[measure] ?? 0) / most} />
            </th>
            <td class="usage-figure">
              <Cost sums={group} />
            </td>
            <td class="usage-figure" title={groupDigits(Math.round(group.total))}>
              {shortCount(group.total)}
            </td>
          </tr>
        ))}
      </FigureTable>
      <More count={groups.length} isAll={isAll} toggle={() => showAll(!isAll)} />
    </section>
  );
}

interface FigureTableProps {
  readonly head: string;
  /** Headers of the numeric columns. */
  readonly figures: readonly string[];
  readonly children: ComponentChildren;
}

export function FigureTable({ head, figures, children }: FigureTableProps) {
  if (Array.isArray(children) && children.length === 0) return null;
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

export function Bar({ share }: { readonly share: number }) {
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
            <code>{pageText(row.tool)}</code>
          </th>
          <td class="usage-figure">{groupDigits(row.calls)}</td>
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
    <a
      href={sessionHref(slowest.session, slowest.start)}
      aria-label={`${pageText(tool)}: ${took}, show it`}
    >
      {took}
    </a>
  );
}

function failedWords({ errors, calls }: ToolUsageRow): string {
  if (errors === 0) return "0";
  return `${groupDigits(errors)} (${Math.round((100 * errors) / Math.max(1, calls))} %)`;
}
