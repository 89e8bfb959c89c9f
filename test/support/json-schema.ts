/**
 * The part of JSON Schema that our OpenAPI document uses: what is wrong with a value, if anything.
 * An unknown keyword fails, so that no part of a schema is ignored.
 */

import assert from "node:assert/strict";

type Schema = Readonly<Record<string, unknown>>;

const SAYING: ReadonlySet<string> = new Set(["description", "format", "default"]);

/** Each problem with its place; empty if the value is valid. `ref` resolves $ref. */
export function faultsOf(
  value: unknown,
  schema: Schema,
  ref: (name: string) => Schema,
  at = "$",
): string[] {
  const judge = (inner: unknown, by: Schema, place: string) => faultsOf(inner, by, ref, place);
  return Object.entries(schema).flatMap(([keyword, wanted]): string[] => {
    if (SAYING.has(keyword)) return [];
    const check = CHECKS[keyword] ?? assert.fail(`${at}: no check of ${keyword}`);
    return check({ value, wanted, schema, at, judge, ref });
  });
}

interface Judged {
  readonly value: unknown;
  readonly wanted: unknown;
  readonly schema: Schema;
  readonly at: string;
  readonly judge: (value: unknown, schema: Schema, at: string) => string[];
  readonly ref: (name: string) => Schema;
}

const CHECKS: Readonly<Record<string, (judged: Judged) => string[]>> = {
  $ref: ({ value, wanted, at, judge, ref }) => judge(value, ref(String(wanted)), at),
  type: ({ value, wanted, at }) =>
    said(typeOf(value, wanted) === wanted, at, `is not of type ${wanted}`),
  const: ({ value, wanted, at }) => said(value === wanted, at, `is not ${wanted}`),
  enum: ({ value, wanted, at }) => {
    return said((wanted as unknown[]).includes(value), at, `is not one of ${wanted}`);
  },
  anyOf: ({ value, wanted, at, judge }) => {
    const tries = (wanted as Schema[]).map((schema) => judge(value, schema, at));
    return tries.some((faults) => faults.length === 0) ? [] : tries.flat();
  },
  minimum: ({ value, wanted, at }) => said(Number(value) >= Number(wanted), at, "is too small"),
  maximum: ({ value, wanted, at }) => said(Number(value) <= Number(wanted), at, "is too large"),
  pattern: ({ value, wanted, at }) => {
    return said(new RegExp(String(wanted)).test(String(value)), at, `does not match ${wanted}`);
  },
  items: ({ value, wanted, at, judge }) => {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, n) => judge(item, wanted as Schema, `${at}[${n}]`));
  },
  required: ({ value, wanted, at }) => {
    const missing = (wanted as string[]).filter((name) => !Object.hasOwn(Object(value), name));
    return missing.map((name) => `${at}: ${name} is missing`);
  },
  properties: ({ value, wanted, at, judge }) => {
    return Object.entries(wanted as Record<string, Schema>).flatMap(([name, schema]) => {
      if (!Object.hasOwn(Object(value), name)) return [];
      return judge((value as Record<string, unknown>)[name], schema, `${at}.${name}`);
    });
  },
  additionalProperties: ({ value, wanted, schema, at }) => {
    assert.equal(wanted, false, "only closed objects are known here");
    const known = Object.keys((schema.properties ?? {}) as object);
    const others = Object.keys(Object(value)).filter((name) => !known.includes(name));
    return others.map((name) => `${at}: ${name} is not described`);
  },
};

function said(holds: boolean, at: string, fault: string): string[] {
  return holds ? [] : [`${at}: ${fault}`];
}

function typeOf(value: unknown, wanted: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (wanted === "integer" && Number.isInteger(value)) return "integer";
  return typeof value;
}
