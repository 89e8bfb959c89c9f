/**
 * Schema: JSON Schema with the TypeScript type that it describes, so that a shape of the API is
 * written once: the server serves the schema, the client exports the type (`TypeOfSchema`).
 */

declare const TYPE: unique symbol;

/** A JSON Schema. Nothing at run time has the field that holds the type. */
export interface Schema<T = unknown> extends Readonly<Record<string, unknown>> {
  readonly [TYPE]?: T;
}

/** The type that a schema describes. */
export type TypeOfSchema<S> = S extends { readonly [TYPE]?: infer T } ? T : never;

type Properties = Readonly<Record<string, Schema>>;

/** The fields that schemas describe. */
export type Fields<P> = { readonly [K in keyof P]: TypeOfSchema<P[K]> };

export const string: Schema<string> = { type: "string" };
export const boolean: Schema<boolean> = { type: "boolean" };
export const number: Schema<number> = { type: "number" };
export const count: Schema<number> = { type: "integer", minimum: 0 };
export const offset: Schema<number> = {
  type: "integer",
  minimum: 0,
  description: "Bytes from the start of the log, between two lines",
};
export const time: Schema<string> = { type: "string", format: "date-time" };

export function describeSchema<T>(schema: Schema<T>, description: string): Schema<T> {
  return { ...schema, description };
}

export function matching(pattern: string, description: string): Schema<string> {
  return { ...string, description, pattern };
}

export function choice<const V extends string | null>(values: readonly V[]): Schema<V> {
  return { enum: [...values] };
}

export function constant<const V>(value: V): Schema<V> {
  return { const: value };
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  return { anyOf: [schema, { type: "null" }] };
}

export function list<T>(items: Schema<T>): Schema<readonly T[]> {
  return { type: "array", items };
}

/** An object with these fields, all of them required, and no others. */
export function object<P extends Properties>(properties: P): Schema<Fields<P>> {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

/** An object with these fields and no others; only those that are named are required. */
export function partly<P extends Properties, R extends keyof P & string>(
  properties: P,
  required: readonly R[],
): Schema<Fields<Pick<P, R>> & Partial<Fields<Omit<P, R>>>> {
  return { type: "object", properties, required, additionalProperties: false };
}

/** An object of someone else, with any fields. */
export const anyObject: Schema<Readonly<Record<string, unknown>>> = { type: "object" };

/** Another schema of the document, by the name that it has there. */
export function ref<T>(name: string, _schema?: Schema<T>): Schema<T> {
  return { $ref: `#/components/schemas/${name}` };
}

/** The position in a list that comes in pages. */
export const nextPage = describeSchema(
  orNull(string),
  "The cursor of the next page; null after the last",
);

/** False while not all sessions have been read; `lack` is what the answer lacks. */
export function isComplete(lack: string): Schema<boolean> {
  return describeSchema(
    boolean,
    `False while sessions are read for the first time: some ${lack} yet`,
  );
}
