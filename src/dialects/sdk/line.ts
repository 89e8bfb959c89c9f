/**
 * Line: the kinds of lines of this dialect. Page: docs/formats/sdk.md, "A line".
 *
 * LN1  Nothing is erased: what is taken back is taken back by a line that says so.
 * LN2  Lines that belong together say so in `part`, [n, of]. They are written in one append, so they
 *      stand one after the other, and where the last is missing none of them counts.
 * LN3  A line with `after` counts only if no other that counts stands between it and the line of that
 *      id: whoever wrote it had read up to there, and somebody else was faster.
 */

import type { Native, TakingBack } from "../dialect.ts";
import { isObject } from "../fields.ts";

/** How an answer of a model ended. */
export type AnswerState = "finished" | "stopped" | "failed" | "interrupted";

export const ANSWER_STATES: readonly string[] = ["finished", "stopped", "failed", "interrupted"];

/** What a field of a line must be, in the words of a refusal; null when it is that. */
type Check = (value: unknown) => string | null;

const text: Check = (value) => (typeof value === "string" && value !== "" ? null : "expected text");
const object: Check = (value) => (isObject(value) ? null : "expected object");
const count: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? null : "expected a count";
const state: Check = (value) =>
  ANSWER_STATES.includes(value as string) ? null : `expected one of ${ANSWER_STATES.join(", ")}`;
const part: Check = (value) => {
  const [n, of] = Array.isArray(value) && value.length === 2 ? value : [];
  return Number.isSafeInteger(n) && Number.isSafeInteger(of) && n >= 1 && n <= of
    ? null
    : "expected [n, of]";
};
const message: Check = (value) => {
  if (!isObject(value)) return "expected object";
  if (text(value.id) !== null) return "expected an id in it";
  if (!["system", "user", "assistant"].includes(value.role as string))
    return "expected a role in it";
  return Array.isArray(value.parts) ? null : "expected parts in it";
};

/** The fields that each kind must have. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  item: { item: object },
  pop: { count },
  clear: {},
  message: { message },
  answer: { message: text, stream: text },
  entry: { entry: object },
};

/** The fields that any line may have. */
const OPTIONAL: Readonly<Record<string, Check>> = { part, after: text, operation: object, state };

export const LINE_TYPES: readonly string[] = Object.keys(REQUIRED);

/** The field of a line that is wrong, and how; null when none is. */
export function lineFault(native: Native): { field: string; reason: string } | null {
  const { type } = native;
  const required = typeof type === "string" && Object.hasOwn(REQUIRED, type) && REQUIRED[type];
  if (!required) return { field: "type", reason: `expected one of ${LINE_TYPES.join(", ")}` };
  for (const field of ["id", "at"]) {
    const reason = text(native[field]);
    if (reason !== null) return { field, reason };
  }
  for (const [field, check] of Object.entries(required)) {
    const reason = check(native[field]);
    if (reason !== null) return { field, reason };
  }
  for (const [field, check] of Object.entries(OPTIONAL)) {
    const reason = native[field] === undefined ? null : check(native[field]);
    if (reason !== null) return { field, reason };
  }
  return null;
}

/** Items and messages are said; a neutral entry is no framework's, and none takes it back. */
export const takingBack: TakingBack = {
  says: ({ type }) => type === "item" || type === "message",
  takesBack(native) {
    if (native.type === "clear") return Number.POSITIVE_INFINITY;
    return native.type === "pop" ? (native.count as number) : null;
  },
};

/** Which of how many lines that were written together a line is (LN2). */
export function partOf(native: Native): readonly [number, number] {
  return (native.part as [number, number] | undefined) ?? [1, 1];
}

/** Where `next` was written together with the lines before it, these count without it. */
export function cutBefore(natives: readonly Native[], next: Native): Native[] {
  const [n, of] = partOf(next);
  const before = natives.length - (n - 1);
  const group = natives.slice(Math.max(0, before));
  const isWhole = before >= 0 && group.every((native, at) => isPart(native, at + 1, of));
  if (!isWhole) return [...natives];
  const closed = group.map((native, at) => ({ ...native, part: [at + 1, group.length] }));
  return [...natives.slice(0, before), ...closed];
}

function isPart(native: Native, n: number, of: number): boolean {
  const [itsN, itsOf] = partOf(native);
  return itsN === n && itsOf === of;
}
