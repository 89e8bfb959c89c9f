/** Choice: one of a few, as buttons. */

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
