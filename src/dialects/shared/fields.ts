/**
 * Fields: reads untrusted JSON objects.
 *
 * Only own keys count, so a field named like a method of Object is absent. Absent and null differ,
 * as for Python's `dict.get(key, fallback)`.
 *
 * JSON value: what a caller's object becomes as a line.
 *
 * A Date, undefined, NaN, -0 or toJSON differs between memory and the log. Resolving them before
 * the line is made keeps live rendering equal to what is read back.
 */

import { parseExactly } from "../../core/base/exact-numbers.ts";

/** Deeper values take the slow path. Also stops at an object that contains itself. */
const PLAIN_DEPTH_MAX = 100;

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Python's `object.get(key, fallback)`. JSON holds no function, so a function is a method of Object;
 * asking `hasOwn` each time would take a tenth of a listing.
 */
export function get(object: JsonObject, key: string, fallback?: unknown): unknown {
  const value = object[key];
  if (value === undefined || typeof value === "function") return fallback;
  return key === "__proto__" && !Object.hasOwn(object, key) ? fallback : value;
}

export function has(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key);
}

/** The object in a field; an empty one if there is none. */
export function getObject(object: JsonObject, key: string): JsonObject {
  const value = get(object, key);
  return isObject(value) ? value : {};
}

/** The list in a field; an empty one if there is none. */
export function getList(object: JsonObject, key: string): readonly unknown[] {
  const value = get(object, key);
  return Array.isArray(value) ? value : [];
}

/** The objects of the list in a field. */
export function getObjects(object: JsonObject, key: string): JsonObject[] {
  return getList(object, key).filter(isObject);
}

/** Text that may be JSON, such as a call's arguments; all that is not JSON stays as it is. */
export function parseJsonText(text: unknown): unknown {
  if (typeof text !== "string") return text;
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

/** The object that a text is as JSON; null if it is none. */
export function parsedObject(text: unknown): JsonObject | null {
  if (typeof text !== "string" || !/^\s*\{/.test(text)) return null;
  const value = parseJsonText(text);
  return isObject(value) ? value : null;
}

export function getString(object: JsonObject, key: string): string | null {
  const value = get(object, key);
  return typeof value === "string" ? value : null;
}

/** A finite number; null for everything else, including 1e999. */
export function getNumber(object: JsonObject, key: string): number | null {
  const value = get(object, key);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A number of tokens, or a price: a finite number that is not negative, else null. */
export function getCount(object: JsonObject, key: string): number | null {
  const value = getNumber(object, key);
  return value !== null && value >= 0 ? value : null;
}

/** A copy without the named keys, in the same order. */
export function withoutKeys(object: JsonObject, keys: readonly string[]): JsonObject {
  return withRest({}, object, keys);
}

/**
 * Copies all but the named keys of `object` to `fields`. Runs for every event, so it is a loop:
 * that takes a third of the time of copying by entries.
 */
export function withRest(
  fields: Record<string, unknown>,
  object: JsonObject,
  keys: readonly string[],
): JsonObject {
  for (const key of Object.keys(object)) {
    if (keys.includes(key)) continue;
    if (key !== "__proto__") fields[key] = object[key];
    else Object.defineProperty(fields, key, { ...OWN_FIELD, value: object[key] });
  }
  return fields;
}

/** The descriptor that assignment creates for every key but `__proto__`. */
const OWN_FIELD = { configurable: true, enumerable: true, writable: true };

/** The value itself if it is plain JSON, else what it serialises to; undefined if it cannot. */
export function toJsonValue(value: unknown): unknown {
  try {
    return isPlain(value, PLAIN_DEPTH_MAX) ? value : JSON.parse(JSON.stringify(value));
  } catch {
    // A cycle, a BigInt, a depth beyond the engine's, a getter that throws: the caller refuses it.
    return undefined;
  }
}

function isPlain(value: unknown, depthLeft: number): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depthLeft === 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype) return false;
    // Not `every`: it skips holes, which JSON writes as null.
    for (const item of value) if (!isPlain(item, depthLeft - 1)) return false;
    return true;
  }
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(value).every((item) => isPlain(item, depthLeft - 1));
}
