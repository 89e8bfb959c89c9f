/**
 * Registry: counters in Prometheus' text format 0.0.4.
 *
 * Counting adds to a number: it allocates nothing and never waits. Labels come from our own lists,
 * never from a request, so that the answer stays small.
 */

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Appends the metric's lines to `into`. */
export interface Metric {
  write(into: string[]): void;
}

/** Counts up, one number for each set of labels (`{route="stream"}`), or one without any. */
export class Counter implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(value: number, labels = ""): void {
    this.#values.set(labels, (this.#values.get(labels) ?? 0) + value);
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, "counter");
    if (this.#values.size === 0) into.push(`${this.#name} 0`);
    for (const [labels, value] of this.#values) into.push(`${this.#name}${labels} ${value}`);
  }
}

/** A value computed when it is read. */
export class Gauge implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #value: () => number;

  constructor(name: string, help: string, value: () => number) {
    this.#name = name;
    this.#help = help;
    this.#value = value;
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, "gauge");
    into.push(`${this.#name} ${this.#value()}`);
  }
}

/** Counts values at or below each bound. */
export class Histogram implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  /** One more than there are bounds: for values above all of them. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    (this.#counts[at] as number)++;
    this.#sum += value;
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, "histogram");
    let total = 0;
    for (const [at, count] of this.#counts.entries()) {
      total += count;
      into.push(`${this.#name}_bucket{le="${this.#bounds[at] ?? "+Inf"}"} ${total}`);
    }
    into.push(`${this.#name}_sum ${this.#sum}`, `${this.#name}_count ${total}`);
  }
}

export function metricsText(metrics: readonly Metric[]): string {
  const lines: string[] = [];
  for (const metric of metrics) metric.write(lines);
  return `${lines.join("\n")}\n`;
}

function head(into: string[], name: string, help: string, type: string): void {
  into.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
}
