/**
 * Entry check: is a parsed line a HomeAgent turn record?
 *
 * Written by hand, because it runs for every line read and written, and loading Zod would cost more
 * than most commands take. The schema is `schema.ts`.
 *
 * E1  The verdict, the field and the reason equal those of the Zod schema, for every JSON value.
 * Change the two together; `entry-check.test.ts` compares them on arbitrary values.
 *
 * No reason quotes a field's value: prompts and tool output must not reach error messages.
 */

export interface EntryFault {
  /** Path of the first fault, "toolCalls.0.name"; "entry" if the value is not an object. */
  readonly field: string;
  readonly reason: string;
}

export const ROLE_EXPECTED = "expected one of user, assistant, tool, system";

type Fields = Readonly<Record<string, unknown>>;

/** The first fault of a value, in the order of the schema's fields; null for a valid entry. */
export function entryFault(value: unknown): EntryFault | null {
  if (!isObject(value)) return fault("entry", "object");
  if (typeof value.turnId !== "string") return fault("turnId", "string");
  if (!isRole(value.role)) return { field: "role", reason: ROLE_EXPECTED };
  return (
    optionalString(value, "content") ??
    optionalArray(value, "toolCalls", toolCallFault) ??
    optionalArray(value, "toolResults", toolResultFault) ??
    optionalObject(value, "metadata", metadataFault) ??
    (Number.isFinite(value.ts) ? null : fault("ts", "number"))
  );
}

function toolCallFault(call: Fields): EntryFault | null {
  if (typeof call.id !== "string") return fault("id", "string");
  if (typeof call.name !== "string") return fault("name", "string");
  return isObject(call.args) ? null : fault("args", "record");
}

function toolResultFault(result: Fields): EntryFault | null {
  if (typeof result.callId !== "string") return fault("callId", "string");
  return optionalString(result, "error");
}

function metadataFault(metadata: Fields): EntryFault | null {
  return (
    optionalString(metadata, "model") ??
    optionalObject(metadata, "tokens", tokensFault) ??
    optionalString(metadata, "runId") ??
    optionalString(metadata, "provider")
  );
}

function tokensFault({ prompt, completion }: Fields): EntryFault | null {
  // 1e999 is JSON, and parses as Infinity: not a count.
  if (!Number.isFinite(prompt)) return fault("prompt", "number");
  return Number.isFinite(completion) ? null : fault("completion", "number");
}

/** Checks the fields of an object or an element; fault paths are relative to it. */
type Judge = (fields: Fields) => EntryFault | null;

function optionalString(of: Fields, key: string): EntryFault | null {
  const value = of[key];
  return value === undefined || typeof value === "string" ? null : fault(key, "string");
}

function optionalObject(of: Fields, key: string, judge: Judge): EntryFault | null {
  const value = of[key];
  if (value === undefined) return null;
  return isObject(value) ? under(key, judge(value)) : fault(key, "object");
}

function optionalArray(of: Fields, key: string, judge: Judge): EntryFault | null {
  const array = of[key];
  if (array === undefined) return null;
  if (!Array.isArray(array)) return fault(key, "array");
  for (let index = 0; index < array.length; index++) {
    const element: unknown = array[index];
    if (!isObject(element)) return fault(`${key}.${index}`, "object");
    const found = judge(element);
    if (found !== null) return under(`${key}.${index}`, found);
  }
  return null;
}

function under(place: string, found: EntryFault | null): EntryFault | null {
  return found && { field: `${place}.${found.field}`, reason: found.reason };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRole(value: unknown): boolean {
  return value === "user" || value === "assistant" || value === "tool" || value === "system";
}

function fault(field: string, expected: string): EntryFault {
  return { field, reason: `expected ${expected}` };
}
