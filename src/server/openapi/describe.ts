/** Describe: what operations have in common, as OpenAPI has it. */

import { ref, type Schema } from "../../client/schema.ts";
import { STATUS } from "../http/status.ts";

export const text: Schema = { type: "string" };

export function parameter(name: string, description: string, schema: Schema, place = "query") {
  return { name, in: place, description, schema, ...(place === "path" ? { required: true } : {}) };
}

/** In the path. */
export const SESSION = parameter("id", "The session, by its `id` in the list", text, "path");

/** What every list and report takes as a project (sessions/list/whose.ts). */
export const PROJECT_PARAMETER = parameter(
  "project",
  "Only of one project, `=` and its `project`; or of those with this part in their names; or of " +
    "a directory, by its path, and all below it",
  text,
);

/** Who sent a session, as the sender says (sessions/list/whose.ts). */
export const SENDER_PARAMETERS = [
  parameter("machine", "Only what this machine sent", text),
  parameter("user", "Only what this user sent", text),
];

/** An answer that went well, of one type. */
export function content(type: string, schema: Schema, description: string): Schema {
  return { description, content: { [type]: { schema } } };
}

/** JSON of a named schema. */
export function json(name: string, description: string): Schema {
  return content("application/json", ref(name), description);
}

/** What anything can be answered with: a foreign page or name, a fault of ours, too much to do. */
const ALWAYS = [403, 500, 503];

export function refusals(...statuses: readonly number[]): Record<string, Schema> {
  const refused = json("Error", "Refused; the code says why");
  return Object.fromEntries([...statuses, ...ALWAYS].map((status) => [String(status), refused]));
}

/** A path that only returns something. */
export function page(operationId: string, summary: string, responses: Record<number, unknown>) {
  const all = { ...refusals(), ...responses };
  return { get: { operationId, summary, tags: ["server"], responses: all } };
}

/** A path of the sessions API. */
export interface SessionsOperation {
  readonly summary: string;
  readonly parameters: readonly Schema[];
  readonly ok: Schema;
  readonly refused: readonly number[];
}

export function get(
  operationId: string,
  { summary, parameters, ok, refused }: SessionsOperation,
): Schema {
  const responses = { 200: ok, ...refusals(400, 401, 404, 429, ...refused) };
  return { get: { operationId, summary, tags: ["sessions"], parameters, responses } };
}

export const flag = (otherwise: boolean): Schema => ({ type: "boolean", default: otherwise });

export function limit(description: string, maximum: number, otherwise: number) {
  const schema = { type: "integer", minimum: 1, maximum, default: otherwise };
  return parameter("limit", description, schema);
}

/** An operation of the protocol, with the statuses that refuse it. */
interface ProtocolOperation {
  readonly id: string;
  readonly summary: string;
  readonly parameters: readonly Schema[];
  readonly body?: Schema;
  /** Successful answers, and what they mean. */
  readonly ok: Readonly<Record<number, string>>;
  readonly refused: readonly number[];
  readonly tag?: string;
}

export function operation({
  id,
  summary,
  parameters,
  body,
  ok,
  refused,
  tag,
}: ProtocolOperation): Schema {
  const answered = Object.entries(ok).map(([status, description]) => {
    return [status, { description }] as const;
  });
  const responses = { ...refusals(...refused), ...Object.fromEntries(answered) };
  const sent = body === undefined ? {} : { requestBody: body };
  return { operationId: id, summary, tags: [tag ?? "streams"], parameters, ...sent, responses };
}

/** Of one with a body. */
export const BODY_ERRORS = [STATUS.BODY_TOO_LARGE, STATUS.NOT_IMPLEMENTED];
/** Of one that writes. */
export const FULL_ERROR = STATUS.NO_SPACE;
