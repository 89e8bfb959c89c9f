/**
 * Line: the kinds of lines of this dialect, and what they say about their session. Page:
 * docs/formats/sdk.md, "A line".
 *
 * - Nothing is erased: a later line takes earlier ones back.
 * - Lines that belong together have `part`, [n, of]. They are written in one append, so they are
 *   adjacent, and if the last is missing none of them counts.
 * - A line with `after` counts only if no other counting line is between it and the line of that
 *   id. Otherwise another writer appended after this one had read the log.
 */

import type { Native } from "../../core/model/entry.ts";
import { LABEL_LIMITS, LABEL_NAMES } from "../../core/model/entry-check.ts";
import { wireMarkIn } from "../../core/model/wire-mark.ts";
import type { SessionDetails } from "../facets/reading.ts";
import type { Compaction, TakingBack } from "../facets/turns.ts";
import type { Writing } from "../facets/writing.ts";
import { isObject } from "../shared/fields.ts";
import { roleIn } from "./langchain-message.ts";

/** How a model's answer ended. */
export type AnswerState = "finished" | "stopped" | "failed" | "interrupted";

export const ANSWER_STATES: readonly string[] = ["finished", "stopped", "failed", "interrupted"];

/** What is wrong with a field, as in an error message; null if nothing. */
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

const list: Check = (value) => (Array.isArray(value) ? null : "expected a list");
const anyText: Check = (value) => (typeof value === "string" ? null : "expected text");

/** Required fields of each kind. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  item: { item: object },
  pop: { count },
  clear: {},
  message: { message },
  answer: { message: text, stream: text },
  entry: { entry: object },
  value: { channel: anyText },
  snapshot: { ns: anyText, checkpoint: text, saved: object, meta: object, values: object },
  writes: { ns: anyText, checkpoint: text, task: anyText, writes: list },
};

/** Optional fields of every line. */
const OPTIONAL: Readonly<Record<string, Check>> = { part, after: text, operation: object, state };

export const LINE_TYPES: readonly string[] = Object.keys(REQUIRED);

/** The first invalid field of a line, and why; null if there is none. */
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

/**
 * Items and messages can be taken back. Neutral entries do not come from a framework, so they
 * cannot.
 */
export const takingBack: TakingBack = {
  says: ({ type, value }) =>
    type === "item" || type === "message" || (type === "value" && roleIn(value) !== null),
  takesBack(native) {
    if (native.type === "clear") return Number.POSITIVE_INFINITY;
    return native.type === "pop" ? (native.count as number) : null;
  },
};

/** A history that its program summarised: the request that began with the summary says so. */
export const compaction: Compaction = {
  isSummary,
  isBoundary: isSummary,
  keptBy: () => new Set(),
};

function isSummary({ type, entry }: Native): boolean {
  return type === "entry" && isObject(entry) && wireMarkIn(entry.metadata)?.summary === true;
}

/** Index and count of lines that were written together. */
export function partOf(native: Native): readonly [number, number] {
  return (native.part as [number, number] | undefined) ?? [1, 1];
}

/** The lines before `next`; a group that this cuts is renumbered, so that it counts as complete. */
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

export const START: NonNullable<Writing["start"]> = {
  says: [...LABEL_NAMES, "parent"],
  line: (start) => ({ type: "entry", ...start, entry: { kind: "start" } }),
};

/** What a line says about its session; invalid fields are left out. */
export function about(native: Native): SessionDetails | null {
  const { title, user, parent, tags, metadata } = native;
  const isShort = (value: object) => JSON.stringify(value).length <= LABEL_LIMITS.metadataCharsMax;
  const details: SessionDetails = {
    ...(isFilled(title) && { chosenTitle: title }),
    ...(isFilled(user) && { user }),
    ...(isFilled(parent) && { parent }),
    ...(Array.isArray(tags) && { tags: tags.filter(isFilled).slice(0, LABEL_LIMITS.tagsMax) }),
    ...(isObject(metadata) && isShort(metadata) && { metadata }),
  };
  return Object.keys(details).length === 0 ? null : details;
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
