/** Choice: one of a few, as buttons; and the choice of a period up to now. */

import { zone } from "../settings.ts";
import { dayIn } from "../words.ts";
import { dayAfter } from "./usage-sums.ts";

interface ChoiceProps<T> {
  readonly name: string;
  readonly options: readonly (readonly [T, string])[];
  readonly chosen: T;
  readonly choose: (value: T) => void;
}

export function UsageChoice<T extends string | number>(props: ChoiceProps<T>) {
  const { name, options, chosen, choose } = props;
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

const PERIODS: readonly (readonly [number, string])[] = [
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [0, "All time"],
];

export function PeriodChoice(props: Pick<ChoiceProps<number>, "chosen" | "choose">) {
  return <UsageChoice name="Period" options={PERIODS} {...props} />;
}

/** The first day of a period; "": all time. */
export function sinceDay(days: number): string {
  return days > 0 ? dayAfter(dayIn(Date.now(), zone.value), 1 - days) : "";
}
