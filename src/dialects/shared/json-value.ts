/**
 * JSON value: what a caller's object becomes as a line.
 *
 * A Date, undefined, NaN, -0 or toJSON differs between memory and the log. Resolving them before
 * the line is made keeps live rendering equal to what is read back.
 */

/** Deeper values take the slow path. Also stops at an object that contains itself. */
const PLAIN_DEPTH_MAX = 100;

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
