/** Values: what the fields of a disclosed copy may hold. */

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

export function isText(value: unknown, charsMax: number): value is string {
  return typeof value === "string" && value.length <= charsMax;
}
