/** Calendar: every day of the last year, darker where more was used. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { UsageReport } from "../../../src/client/usage-shapes.ts";
import { countText, dayText } from "../words.ts";
import { calendarOf, type UsageMeasure } from "./usage-sums.ts";

const CELL = 16;
const LABELS = 32;
const months = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });

interface CalendarProps {
  readonly report: UsageReport;
  readonly measure: UsageMeasure;
  readonly amount: (value: number) => string;
}

export function Calendar({ report, measure, amount }: CalendarProps) {
  const weeks = useMemo(() => calendarOf(report, measure), [report, measure]);
  const scroller = useRef<HTMLElement>(null);
  useEffect(() => {
    // Today is at the right end.
    if (scroller.current) scroller.current.scrollLeft = scroller.current.scrollWidth;
  }, [weeks.length]);
  const used = weeks.flat().filter(({ value }) => value > 0);
  const most = used.reduce((max, cell) => (cell.value > (max?.value ?? 0) ? cell : max), used[0]);
  const days = countText(used.length, "day");
  const summary = most
    ? `${days} with usage; most ${onDay(most.day)}: ${amount(most.value)}`
    : "No usage";
  const [width, height] = [weeks.length * CELL + LABELS, 7 * CELL + LABELS];
  return (
    <section class="usage-card">
      <div class="usage-head">
        <h2>The last year</h2>
        <span class="usage-note">{summary}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too. */}
      <section class="usage-calendar" ref={scroller} tabIndex={0} aria-label="Calendar">
        <svg width={width} height={height} role="img" aria-label={`The last year: ${summary}`}>
          {["Mon", "Wed", "Fri"].map((name, n) => (
            <text key={name} x={0} y={LABELS + (n * 2 + 1) * CELL - 5}>
              {name}
            </text>
          ))}
          {weeks.map((week, x) => (
            <g key={week[0]?.day} transform={`translate(${LABELS + x * CELL} ${LABELS})`}>
              {isNewMonth(week[0]?.day, weeks[x - 1]?.[0]?.day) && (
                <text y={-8}>{months.format(new Date(week[0]?.day ?? 0))}</text>
              )}
              {week.map(({ day, value, level }, y) => (
                <rect key={day} class={`heat-${level}`} y={y * CELL} width={13} height={13} rx={3}>
                  <title>{value > 0 ? `${dayText(day)}: ${amount(value)}` : dayText(day)}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </section>
    </section>
  );
}

/** "on Mon 3 Nov", "today" */
function onDay(day: string): string {
  const name = dayText(day);
  return /\d/.test(name) ? `on ${name}` : name.toLowerCase();
}

function isNewMonth(day: string | undefined, before: string | undefined): boolean {
  return before !== undefined && day?.slice(0, 7) !== before.slice(0, 7);
}
