/** Plan: a list of things to do, as agents write it. */

export interface Step {
  readonly text: string;
  readonly state: "finished" | "current" | "waiting" | "dropped";
}

const LISTS = ["todos", "plan", "items", "tasks"] as const;
const TEXTS = ["content", "step", "title", "description", "text"] as const;
/** A longer list is shown as any other input. */
export const STEPS_MAX = 200;

/** The steps in a tool's input; null when it is not a plan. */
export function planIn(input: unknown): Step[] | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = input as Readonly<Record<string, unknown>>;
  const list = Array.isArray(input) ? input : LISTS.map((name) => fields[name]).find(Array.isArray);
  if (list === undefined || list.length === 0 || list.length > STEPS_MAX) return null;
  const steps = list.map(stepOf);
  return steps.every((step) => step !== null) ? steps : null;
}

function stepOf(value: unknown): Step | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const text = TEXTS.map((name) => fields[name]).find((each) => typeof each === "string");
  if (typeof text !== "string") return null;
  return { text, state: stateOf(fields.status) };
}

function stateOf(status: unknown): Step["state"] {
  if (status === "completed" || status === "done") return "finished";
  if (status === "in_progress" || status === "in-progress") return "current";
  return status === "cancelled" ? "dropped" : "waiting";
}

/** `2 of 5 done`. */
export function planNote(steps: readonly Step[] | null): string | null {
  if (steps === null) return null;
  return `${steps.filter(({ state }) => state === "finished").length} of ${steps.length} done`;
}
