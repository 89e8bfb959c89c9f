/** Axis bars: what the time axis shows, as pure functions: a bar per prompt, or per few of them. */

/** More would be thinner than a pointer can hit, and each is an element. */
export const BARS_MAX = 120;

export type AxisMeasure = "cost" | "duration";

export interface Bar {
  /** The first of its prompts. */
  readonly first: number;
  /** How many. */
  readonly count: number;
  /** From 0 to 1, of the highest bar. */
  readonly height: number;
  readonly value: number;
  readonly failures: number;
}

/** `measured` and `failed`: what each prompt took, and its failures. */
export function barsOf(
  prompts: number,
  measured: (prompt: number) => number,
  failed: (prompt: number) => number,
): readonly Bar[] {
  const each = Math.max(1, Math.ceil(prompts / BARS_MAX));
  const bars: { first: number; count: number; value: number; failures: number }[] = [];
  for (let first = 0; first < prompts; first += each) {
    const bar = { first, count: Math.min(each, prompts - first), value: 0, failures: 0 };
    for (let prompt = first; prompt < first + bar.count; prompt++) {
      bar.value += measured(prompt);
      bar.failures += failed(prompt);
    }
    bars.push(bar);
  }
  const most = Math.max(0, ...bars.map(({ value }) => value));
  // The root: one dear prompt would make all others invisible.
  return bars.map((bar) => ({ ...bar, height: most === 0 ? 0 : Math.sqrt(bar.value / most) }));
}
