/**
 * Entry check: is a parsed line a HomeAgent turn record?
 *
 * Written by hand, because it runs for every line read and written, and loading Zod for it would
 * cost more than most commands take. The schema is `schema.ts`.
 *
 * E1  The verdict, the field and the reason are those of the Zod schema, for every JSON value.
 *     Change the two together; `entry-check.test.ts` compares them on arbitrary values.
 * E2  No reason quotes what a field holds: prompts and tool output do not reach error texts.
 */

export interface EntryFault {
  /** Where the first fault lies, "toolCalls.0.name"; "entry" when the value is no object. */
  readonly field: string;
  readonly reason: string;
}

export const ROLE_EXPECTED = "expected one of user, assistant, tool, system";

type Fields = Readonly<Record<string, unknown>>;

/** The first fault of a value, in the order of the schema's fields; null for a good entry. */
export function entryFault(value: unknown): EntryFault | null {
  if (!isObject(value)) return fault("entry", "object");
  if (typeof value.turnId !== "string") return fault("turnId", "string");
  if (!isRole(value.role)) return { field: "role", reason: ROLE_EXPECTED };
  return (
    optionalString(value, "content", "") ??
    optionalArray(value, "toolCalls", toolCallFault) ??
    optionalArray(value, "toolResults", toolResultFault) ??
    metadataFault(value.metadata) ??
    (Number.isFinite(value.ts) ? null : fault("ts", "number"))
  );
}

function toolCallFault(call: Fields, at: string): EntryFault | null {
  if (typeof call.id !== "string") return fault(`${at}.id`, "string");
  if (typeof call.name !== "string") return fault(`${at}.name`, "string");
  return isObject(call.args) ? null : fault(`${at}.args`, "record");
}

function toolResultFault(result: Fields, at: string): EntryFault | null {
  if (typeof result.callId !== "string") return fault(`${at}.callId`, "string");
  return optionalString(result, "error", `${at}.`);
}

function metadataFault(metadata: unknown): EntryFault | null {
  if (metadata === undefined) return null;
  if (!isObject(metadata)) return fault("metadata", "object");
  return (
    optionalString(metadata, "model", "metadata.") ??
    tokensFault(metadata.tokens) ??
    optionalString(metadata, "runId", "metadata.") ??
    optionalString(metadata, "provider", "metadata.")
  );
}

function tokensFault(tokens: unknown): EntryFault | null {
  if (tokens === undefined) return null;
  if (!isObject(tokens)) return fault("metadata.tokens", "object");
  // 1e999 is JSON, and parses as Infinity: a number, but none that was counted.
  if (!Number.isFinite(tokens.prompt)) return fault("metadata.tokens.prompt", "number");
  if (!Number.isFinite(tokens.completion)) return fault("metadata.tokens.completion", "number");
  return null;
}

function optionalArray(
  of: Fields,
  key: string,
  judge: (element: Fields, at: string) => EntryFault | null,
): EntryFault | null {
  const array = of[key];
  if (array === undefined) return null;
  if (!Array.isArray(array)) return fault(key, "array");
  for (const [index, element] of array.entries()) {
    const at = `${key}.${index}`;
    const found = isObject(element) ? judge(element, at) : fault(at, "object");
    if (found !== null) return found;
  }
  return null;
}

function optionalString(of: Fields, key: string, prefix: string): EntryFault | null {
  const value = of[key];
  return value === undefined || typeof value === "string"
    ? null
    : fault(`${prefix}${key}`, "string");
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
