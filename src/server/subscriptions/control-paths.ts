/** Control paths: what a URL under `/v1/stream/__ds` names. */

import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { badRequest } from "../http/answer.ts";
import { CONTROL_ROOT } from "../router/paths.ts";

export type Route =
  | { readonly to: "keys" }
  | { readonly to: "subscription" | "streams" | Action; readonly id: string }
  | { readonly to: "stream"; readonly id: string; readonly path: string };

type Action = "callback" | "claim" | "ack" | "release";

const SUBSCRIPTIONS = `${CONTROL_ROOT}/subscriptions/`;

/** The allowed methods of each. */
export const METHODS: Readonly<Record<Route["to"], readonly string[]>> = {
  keys: ["GET"],
  subscription: ["GET", "PUT", "DELETE"],
  streams: ["POST"],
  stream: ["DELETE"],
  callback: ["POST"],
  claim: ["POST"],
  ack: ["POST"],
  release: ["POST"],
};

/**
 * What a URL under `/v1/stream/__ds` names.
 *
 * Null when there is no such route. `path`: as it was sent, without its query.
 */
export function routeOf(path: string): Route | null {
  if (path === `${CONTROL_ROOT}/jwks.json`) return { to: "keys" };
  if (!path.startsWith(SUBSCRIPTIONS)) return null;
  const [first = "", second, ...rest] = path.slice(SUBSCRIPTIONS.length).split("/");
  if (first === "") return null;
  const id = decoded(first);
  if (id.length > SUBSCRIPTION_LIMITS.idCharsMax) {
    const max = SUBSCRIPTION_LIMITS.idCharsMax;
    throw badRequest("the subscription's id", `is longer than ${max} characters`);
  }
  if (second === undefined) return { to: "subscription", id };
  if (second === "streams" && rest.length > 0) {
    // Encoded and plain slashes mean the same.
    const stream = decoded(rest.join("/"));
    return { to: "stream", id, path: stream.startsWith("/") ? stream : `/${stream}` };
  }
  if (rest.length > 0 || !isLast(second)) return null;
  return { to: second, id };
}

function isLast(name: string): name is "streams" | Action {
  return ["streams", "callback", "claim", "ack", "release"].includes(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest("the path", "is not percent-encoded UTF-8");
  }
}
