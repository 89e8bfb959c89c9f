/** Usage tables: usage by group, and the table that pages of figures have. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CountedGroup } from "../../../src/client/usage-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { shortCount } from "../words.ts";
import { Cost } from "./short-text.tsx";
import type { UsageMeasure } from "./usage-sums.ts";

const ROWS_SHOWN = 12;

interface SumTableProps {
  readonly title: string;
  readonly head: string;
  readonly groups: readonly CountedGroup[];
  readonly measure: UsageMeasure;
  /** Shorter names of groups; the whole name is shown on hover. */
  readonly names: ReadonlyMap<string, string> | null;
}

export function SumTable({ title, head, groups, measure, names }: SumTableProps) {
  const [isAll, showAll] = useState(false);
  const sorted = [...groups].sort((one, other) => (other[measure] ?? 0) - (one[measure] ?? 0));
  const most = Math.max(...sorted.map((group) => group[measure] ?? 0), 0);
  const visible = isAll ? sorted : sorted.slice(0, ROWS_SHOWN);
  return (
    <section class="usage-card">
      <h2>{title}</h2>
      {groups.length === 0 && <p class="usage-note">None in this time.</p>}
      <FigureTable head={head} figures={["Cost", "Tokens"]}>
        {visible.map((group) => (
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
      {groups.length > ROWS_SHOWN && (
        <button type="button" class="quiet" aria-expanded={isAll} onClick={() => showAll(!isAll)}>
          {isAll ? "Fewer" : `All ${groups.length}`}
        </button>
      )}
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
