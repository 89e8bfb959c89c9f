/**
 * Linearizable: can the operations of several clients on one stream be put into an order that
 * explains every answer, and in which no operation comes before one that had ended when it began?
 *
 * The search of Wing and Gong: take any operation that may be next, apply it to a model of a stream,
 * continue if the model gives the answer that was observed, else go back. What was tried once, the
 * same operations with the same result, is not tried again.
 */

/** One operation, and when it began and ended: times of one clock, all different. */
export interface Operation {
  readonly begin: number;
  readonly end: number;
  readonly input: Input;
  readonly answer: Answer;
}

export type Input =
  | {
      readonly kind: "append";
      readonly text: string;
      readonly producer?: { readonly id: string; readonly seq: number } | undefined;
      readonly streamSeq?: string | undefined;
    }
  | { readonly kind: "close" }
  /** A fork is a read too: it has what the stream had. */
  | { readonly kind: "read" | "fork" };

export type Answer =
  | { readonly outcome: string; readonly end: number }
  | { readonly text: string; readonly isClosed: boolean | null };

/** A stream, as far as answers depend on it. */
interface Model {
  readonly text: string;
  readonly isClosed: boolean;
  readonly streamSeq: string;
  /** The last number of each producer. */
  readonly last: Readonly<Record<string, number>>;
}

const NEW: Model = { text: "", isClosed: false, streamSeq: "", last: {} };

export function isLinearizable(operations: readonly Operation[]): boolean {
  const all = operations.toSorted((a, b) => a.begin - b.begin);
  const done = new Set<number>();
  const tried = new Set<string>();

  const search = (model: Model): boolean => {
    if (done.size === all.length) return true;
    const key = `${[...done].sort((a, b) => a - b)} ${JSON.stringify(model)}`;
    if (tried.has(key)) return false;
    tried.add(key);
    for (const n of nextOf(all, done)) {
      const { input, answer } = all[n] as Operation;
      const after = applied(model, input, answer);
      if (after === null) continue;
      done.add(n);
      if (search(after)) return true;
      done.delete(n);
    }
    return false;
  };
  return search(NEW);
}

/** Operations that began before any other one of those left had ended. */
function nextOf(all: readonly Operation[], done: ReadonlySet<number>): number[] {
  let firstEnd = Number.POSITIVE_INFINITY;
  const next: number[] = [];
  for (const [n, { begin, end }] of all.entries()) {
    if (done.has(n)) continue;
    if (begin > firstEnd) break;
    firstEnd = Math.min(firstEnd, end);
    next.push(n);
  }
  return next.filter((n) => (all[n] as Operation).begin < firstEnd);
}

/** The model after an operation; null if it would have answered otherwise. */
function applied(model: Model, input: Input, answer: Answer): Model | null {
  if ("text" in answer) {
    const isSame = answer.isClosed === null || answer.isClosed === model.isClosed;
    return isSame && answer.text === model.text ? model : null;
  }
  const [outcome, after] = input.kind === "append" ? appended(model, input) : closed(model);
  return answer.outcome === outcome && answer.end === after.text.length ? after : null;
}

function appended(
  model: Model,
  { text, producer, streamSeq }: Extract<Input, { kind: "append" }>,
): [string, Model] {
  if (model.isClosed) return ["closed", model];
  const last = producer === undefined ? 0 : (model.last[producer.id] ?? -1);
  if (producer !== undefined && producer.seq <= last) return ["duplicate", model];
  if (producer !== undefined && producer.seq > last + 1) return ["gap", model];
  if (streamSeq !== undefined && streamSeq <= model.streamSeq) return ["seq-not-greater", model];
  return [
    "appended",
    {
      ...model,
      text: model.text + text,
      streamSeq: streamSeq ?? model.streamSeq,
      last: producer === undefined ? model.last : { ...model.last, [producer.id]: producer.seq },
    },
  ];
}

function closed(model: Model): [string, Model] {
  return model.isClosed ? ["duplicate", model] : ["appended", { ...model, isClosed: true }];
}
