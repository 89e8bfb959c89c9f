/**
 * Fields: reading JSON objects that nobody vouches for.
 *
 * F1  Only own keys count, so that a field named like a method of Object finds nothing.
 * F2  Absent and null differ, as they do for Python's `dict.get(key, fallback)`.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Python's `object.get(key, fallback)`. */
export function get(object: JsonObject, key: string, fallback?: unknown): unknown {
  return Object.hasOwn(object, key) ? object[key] : fallback;
}

export function has(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key);
}

/** The object in a field; an empty one when there is none. */
export function getObject(object: JsonObject, key: string): JsonObject {
  const value = get(object, key);
  return isObject(value) ? value : {};
}

export function getString(object: JsonObject, key: string): string | null {
  const value = get(object, key);
  return typeof value === "string" ? value : null;
}

/** A finite number; null for everything else, 1e999 included. */
export function getNumber(object: JsonObject, key: string): number | null {
  const value = get(object, key);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Without the named keys, the rest in its order. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return withRest({}, object, keys);
}

/**
 * Adds what `object` holds but for the named keys to `fields`. On the path of every event, so a
 * loop: it takes a third of the time that copying by entries does.
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

/** What assigning makes of every key but `__proto__`. */
const OWN_FIELD = { configurable: true, enumerable: true, writable: true };
