/** Schema: the words in which the shapes of answers are said, in JSON Schema. */

export type Schema = Readonly<Record<string, unknown>>;

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const string: Schema = { type: "string" };
export const boolean: Schema = { type: "boolean" };
export const count: Schema = { type: "integer", minimum: 0 };
export const offset: Schema = {
  type: "integer",
  minimum: 0,
  description: "Bytes from the start of the log, between two lines",
};
export const number: Schema = { type: "number" };
export const time: Schema = { type: "string", format: "date-time" };

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: "null" }] };
}

export function list(items: Schema): Schema {
  return { type: "array", items };
}

/** Where a list goes on that comes in pages. */
export const nextPage: Schema = {
  ...orNull(string),
  description: "The cursor of the next page; null after the last",
};

/** False while not all sessions have been read; `lack` is what the answer is without. */
export function isComplete(lack: string): Schema {
  const description = `False while sessions are read for the first time: some ${lack} yet`;
  return { ...boolean, description };
}

/** An object with these fields, all of them there, and no others. */
export function object(properties: Readonly<Record<string, Schema>>, extra: Schema = {}): Schema {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false, ...extra };
}
