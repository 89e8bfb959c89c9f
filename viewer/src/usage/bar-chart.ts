/**
 * Bar chart: days as bars, groups stacked; in its own chunk, since only the usage page draws. The
 * table below it has all the same data.
 */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { DayChart } from "./usage-sums.ts";

export interface ChartLook {
  readonly colors: readonly string[];
  readonly ink: string;
  readonly line: string;
  readonly font: string;
}

export interface ChartOptions {
  readonly look: ChartLook;
  readonly height: number;
  readonly amount: (value: number) => string;
  /** The day under the pointer; null when it has left. */
  readonly onDay: (at: number | null) => void;
}

export interface DrawnChart {
  resize(): void;
  destroy(): void;
}

const DAY_S = 86_400;

export function drawBars(place: HTMLElement, chart: DayChart, options: ChartOptions): DrawnChart {
  const { look, height, amount, onDay } = options;
  const times = chart.days.map((day) => Date.parse(day) / 1000);
  const tops = stacked(chart);
  const axis = { stroke: look.ink, font: look.font, ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height,
      tzDate: (s) => uPlot.tzDate(new Date(s * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { setScale: false } },
      scales: {
        x: { range: (_plot, min, max) => [min - DAY_S * 0.6, max + DAY_S * 0.6] },
        y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 32,
          incrs: [1, 2, 7, 14, 28, 91, 182].map((n) => n * DAY_S),
          values: dayNames,
        },
        {
          ...axis,
          grid: { stroke: look.line, width: 1 },
          size: 64,
          values: (_plot, values) => values.map(amount),
        },
      ],
      series: [
        {},
        ...tops.map((_, at) => {
          const color = look.colors[tops.length - 1 - at] ?? look.ink;
          return {
            fill: color,
            stroke: color,
            width: 0,
            points: { show: false },
            ...(bars && { paths: bars }),
          };
        }),
      ],
      hooks: {
        setCursor: [({ cursor }) => onDay(cursor.idx ?? null)],
      },
    },
    [times, ...tops],
    place,
  );
  return {
    resize: () => plot.setSize({ width: place.clientWidth, height }),
    destroy: () => plot.destroy(),
  };
}

/** Each group on top of those before it, the highest first: later ones are drawn over it. */
function stacked({ days, series }: DayChart): number[][] {
  const heights = days.map(() => 0);
  const tops = series.map(({ values }) =>
    values.map((value, at) => {
      heights[at] = (heights[at] ?? 0) + value;
      return heights[at] ?? 0;
    }),
  );
  return tops.reverse();
}

const months = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });

function dayNames(_plot: uPlot, seconds: number[]): string[] {
  return seconds.map((second) => {
    const day = new Date(second * 1000);
    return `${day.getUTCDate()} ${months.format(day)}`; // As dates are elsewhere.
  });
}
