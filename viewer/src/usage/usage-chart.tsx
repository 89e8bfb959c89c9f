/** Usage chart: the bars, their legend, and the same as a table for screen readers. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { agentColor } from "../agent-mark.tsx";
import { dayText } from "../words.ts";
import type { ChartLook, DrawnChart } from "./bar-chart.ts";
import type { DayChart } from "./usage-sums.ts";

const HEIGHT = 240;

interface ChartProps {
  readonly chart: DayChart;
  readonly title: string;
  readonly amount: (value: number) => string;
  /** The groups are agents, which have their own colours. */
  readonly isOfAgents?: boolean;
}

export function UsageChart({ chart, title, amount, isOfAgents = false }: ChartProps) {
  const colors = useMemo(() => {
    return chart.series.map(({ name }, at) => {
      return isOfAgents ? agentColor(name) : `var(--chart-${at + 1})`;
    });
  }, [chart, isOfAgents]);
  const place = useRef<HTMLDivElement>(null);
  const [day, setDay] = useState<number | null>(null);
  const look = useTheme();
  useEffect(() => {
    let drawn: DrawnChart | null = null;
    let isGone = false;
    const sized = new ResizeObserver(() => drawn?.resize());
    void import("./bar-chart.ts").then(({ drawBars }) => {
      const at = place.current;
      if (isGone || at === null) return;
      drawn = drawBars(at, chart, {
        look: lookOf(at, colors),
        height: HEIGHT,
        amount,
        onDay: setDay,
      });
      sized.observe(at);
    });
    return () => {
      isGone = true;
      sized.disconnect();
      drawn?.destroy();
    };
  }, [chart, colors, look, amount]);
  return (
    <figure class="usage-chart">
      <figcaption>{title}</figcaption>
      <div ref={place} class="usage-plot" aria-hidden="true" />
      <Legend chart={chart} colors={colors} day={day} amount={amount} />
      <details>
        <summary>As a table</summary>
        <DayTable chart={chart} title={title} amount={amount} />
      </details>
    </figure>
  );
}

interface LegendProps extends Pick<ChartProps, "chart" | "amount"> {
  readonly colors: readonly string[];
  readonly day: number | null;
}

function Legend({ chart, colors, day, amount }: LegendProps) {
  const total = (values: readonly number[]) => values.reduce((so, value) => so + value, 0);
  const name = day === null ? null : (chart.days[day] ?? null);
  return (
    <ul class="usage-legend">
      <li class="usage-day">{name === null ? "In all" : dayText(name)}</li>
      {chart.series.map((series, at) => (
        <li key={series.name}>
          <span class="usage-swatch" style={{ background: colors[at] }} />
          <span class="usage-name">{pageText(series.name)}</span>
          <span class="usage-amount">
            {amount(day === null ? total(series.values) : (series.values[day] ?? 0))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function DayTable({ chart, title, amount }: ChartProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with keys.
    <section class="usage-scroll" tabIndex={0} aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {chart.series.map(({ name }) => (
              <th scope="col" class="usage-figure" key={name}>
                {pageText(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {chart.days.map((day, at) => (
            <tr key={day}>
              <th scope="row">{dayText(day)}</th>
              {chart.series.map(({ name, values }) => (
                <td class="usage-figure" key={name}>
                  {amount(values[at] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A new value whenever the colours change, by the system or by the reader. */
function useTheme(): number {
  const [changes, change] = useState(0);
  useEffect(() => {
    const changed = () => change((count) => count + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = new MutationObserver(changed);
    system.addEventListener("change", changed);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", changed);
      chosen.disconnect();
    };
  }, []);
  return changes;
}

/** The current colours; a canvas has no custom properties. */
function lookOf(place: HTMLElement, colors: readonly string[]): ChartLook {
  const probe = document.createElement("span");
  place.append(probe);
  const resolved = (color: string) => {
    probe.style.color = color;
    return getComputedStyle(probe).color;
  };
  const look = {
    colors: colors.map(resolved),
    ink: resolved("var(--dim)"),
    line: resolved("var(--line)"),
    font: `12px ${getComputedStyle(place).fontFamily}`,
  };
  probe.remove();
  return look;
}
