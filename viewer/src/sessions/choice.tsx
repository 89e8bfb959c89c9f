/** Choice: one of a few values, as a select box. */

export type Choices = readonly (readonly [value: string, name: string])[];

interface ChoiceProps {
  readonly name: string;
  /** "" for the first, which is no filter. */
  readonly value: string;
  readonly set: (value: string) => void;
  readonly choices: Choices;
}

export function FilterChoice({ name, value, set, choices }: ChoiceProps) {
  return (
    <select
      aria-label={name}
      class={value === "" ? "" : "chosen"}
      value={value}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    >
      {choices.map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
    </select>
  );
}
