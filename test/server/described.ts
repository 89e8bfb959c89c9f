/** The OpenAPI document, and answers compared with it. */

import assert from "node:assert/strict";
import { openApiDocument } from "../../src/server/openapi/document.ts";
import { faultsOf } from "../support/json-schema.ts";

type Json = Record<string, unknown>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}

export const document = JSON.parse(JSON.stringify(await openApiDocument())) as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
};

export const ref = (name: string) => {
  const schema = document.components.schemas[name.replace("#/components/schemas/", "")];
  return schema ?? assert.fail(`no schema ${name}`);
};

/** Compares an answer with the document's description of that path and status. */
export async function check(path: string, response: Response, method = "GET"): Promise<void> {
  const operation = document.paths[path]?.[method.toLowerCase()] ?? assert.fail(`no ${path}`);
  const described = operation.responses[response.status];
  const said = `${method} ${path}`;
  assert.ok(described, `${said} does not say that it answers ${response.status}`);
  if (method === "HEAD") return;
  // The document describes successful answers of streams without a schema.
  if (described.content === undefined) return assert.ok(response.ok || response.status === 304);
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  const { schema } = described.content[type] ?? assert.fail(`${said} says nothing of ${type}`);
  if (type !== "application/json") return;
  assert.deepEqual(faultsOf(await response.json(), schema, ref), [], said);
}
