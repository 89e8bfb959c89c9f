/**
 * Token request: what a token is asked to allow, from the body of a request. Every wrong field is
 * refused by its name. What is left out is as in the token that makes it.
 */

import { oneLine } from "../../core/base/one-line.ts";
import { globFault } from "../../streams/subscriptions/glob.ts";
import { widerField } from "../auth/token-authority.ts";
import {
  limitsFault,
  machinePaths,
  nameFault,
  PROJECT_SCOPES,
  projectFault,
  SCOPES,
  type TokenEntry,
  type TokenLimits,
  type TokenRequest,
  type TokenScope,
} from "../auth/tokens.ts";
import { badRequest } from "../http/answer.ts";

const LIST_MAX = 100;
const GRACE_SECONDS_MAX = 30 * 86_400;
/** A hundred years. */
const SECONDS_MAX = 100 * 365 * 86_400;

const FIELDS = [
  "name",
  "scopes",
  "paths",
  "machine",
  "project",
  "limits",
  "expiresInSeconds",
] as const;

type Body = Readonly<Record<string, unknown>>;

/** Throws BAD_REQUEST for a token that would be wider than its maker. */
export function tokenRequestIn(value: unknown, maker: TokenEntry, nowMs: number): TokenRequest {
  const body = objectIn(value, FIELDS);
  const name = textIn(body, "name", nameFault) ?? "";
  const scopes = scopesIn(body);
  const project = textIn(body, "project", projectFault) ?? maker.project;
  const limits = limitsIn(body) ?? maker.limits;
  const seconds = secondsIn(body, "expiresInSeconds", 1, SECONDS_MAX);
  const ownEndMs = maker.expiresAt === undefined ? null : Date.parse(maker.expiresAt);
  const expiresAtMs = seconds === null ? ownEndMs : nowMs + seconds * 1000;
  const wanted = { name, scopes, paths: pathsIn(body) ?? maker.paths, project, limits };
  if (project !== undefined && !scopes.every((each) => PROJECT_SCOPES.includes(each))) {
    throw badRequest("project", `is only for the scopes ${PROJECT_SCOPES.join(" and ")}`);
  }
  const expiresAt = expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() };
  const { project: _, limits: __, ...required } = wanted;
  const entry = {
    ...required,
    ...(project && { project }),
    ...(limits && { limits }),
    ...expiresAt,
  };
  const wider = widerField(entry, maker);
  if (wider !== null) {
    const field = wider === "expiresAt" ? "expiresInSeconds" : wider;
    throw badRequest(field, `would allow more than the token that makes it (${maker.id})`);
  }
  return { ...wanted, createdBy: maker.id, expiresAtMs };
}

/** How long a token that is rotated stays valid. */
export function graceIn(value: unknown): number {
  const body = objectIn(value, ["graceSeconds"]);
  return (secondsIn(body, "graceSeconds", 0, GRACE_SECONDS_MAX) ?? 0) * 1000;
}

function objectIn(value: unknown, fields: readonly string[]): Body {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest("the body", "must be an object");
  }
  for (const name of Object.keys(value)) {
    if (fields.includes(name)) continue;
    throw badRequest(oneLine(name, 40), `is not a field; there are ${fields.join(", ")}`);
  }
  return value as Body;
}

function textIn(
  body: Body,
  field: string,
  faultOf: (text: string) => string | null,
): string | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  const fault = typeof value === "string" ? faultOf(value) : "it is not a text";
  if (fault !== null) throw badRequest(field, `is refused: ${fault}`);
  return value as string;
}

function scopesIn({ scopes }: Body): readonly TokenScope[] {
  if (isList(scopes) && scopes.every((each) => SCOPES.some((scope) => scope === each))) {
    return SCOPES.filter((scope) => scopes.includes(scope));
  }
  throw badRequest("scopes", `must be a list of ${SCOPES.join(", ")}`);
}

function pathsIn(body: Body): readonly string[] | undefined {
  const { paths, machine } = body;
  if (machine !== undefined && paths !== undefined) {
    throw badRequest("machine", "is another way to say paths; send one of them");
  }
  const name = textIn(body, "machine", (text) => (machinePaths(text) ? null : "it is no name"));
  if (name !== undefined) return machinePaths(name) ?? [];
  if (paths === undefined) return undefined;
  if (!isList(paths)) throw badRequest("paths", "must be a list of globs such as chat/**");
  for (const path of paths) {
    const fault = typeof path === "string" ? globFault(path) : "it is not a text";
    if (fault !== null) throw badRequest("paths", `has one that is refused: ${fault}`);
  }
  return paths as string[];
}

function limitsIn({ limits }: Body): TokenLimits | undefined {
  if (limits === undefined) return undefined;
  const fault = limitsFault(limits);
  if (fault !== null) throw badRequest("limits", `is refused: ${fault}`);
  return limits as TokenLimits;
}

function secondsIn(body: Body, field: string, min: number, max: number): number | null {
  const value = body[field];
  if (value === undefined) return null;
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) {
    return Number(value);
  }
  throw badRequest(field, `must be a whole number of seconds from ${min} to ${max}`);
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= LIST_MAX;
}
