/**
 * Needs: the permission that a request needs, by its method and path. docs/server.md has the table.
 *
 * A route that is not named here needs `admin`, or `read` if it only reads: a new route is closed
 * until it is added.
 */

import type { IncomingMessage } from "node:http";
import { forkOf } from "../streams/create-request.ts";
import { CONTROL_ROOT } from "../subscriptions/answers.ts";
import { routeOf } from "../subscriptions/route.ts";
import { ASSET_ROOT } from "../viewer.ts";
import type { Scope } from "./token-file.ts";

export interface Need {
  /** A token with `admin` also has the others. */
  readonly scope: Scope;
  /** The stream; null for routes that need a token for all paths. */
  readonly path: string | null;
  /** Counts of the whole server, which a token for some paths may also see. */
  readonly isForAnyPath?: boolean;
}

/** Routes that reveal nothing that is stored. */
const PUBLIC: ReadonlySet<string> = new Set([
  ...["/", "/favicon.svg", "/licenses.md"],
  ...["/live", "/health", "/ready", "/v1/openapi.json"],
]);
const LOOKS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Null when no token is needed. `stream`: the decoded path, if it is a stream. */
export function needsOf(
  request: IncomingMessage,
  path: string,
  stream: string | null,
): readonly Need[] {
  const method = request.method ?? "";
  if (stream !== null) return streamNeeds(method, stream, request);
  if (path.startsWith(CONTROL_ROOT)) return subscriptionNeeds(path);
  if (PUBLIC.has(path) || path.startsWith(ASSET_ROOT)) return [];
  const scope = LOOKS.has(method) ? "read" : "admin";
  return [{ scope, path: null, isForAnyPath: path === "/metrics" }];
}

function streamNeeds(method: string, path: string, request: IncomingMessage): readonly Need[] {
  if (LOOKS.has(method)) return [{ scope: "read", path }];
  if (method === "POST") return [{ scope: "append", path }];
  if (method !== "PUT") return [{ scope: "admin", path }];
  const fork = forkOf(request.headers);
  if (fork === undefined) return [{ scope: "append", path }];
  // A fork is a copy: a token that may not read the source must not read it under another name.
  return [
    { scope: "append", path },
    { scope: "read", path: fork.source },
  ];
}

/** A subscription may follow any stream, so it needs a token for all of them. */
function subscriptionNeeds(path: string): readonly Need[] {
  switch (routeOf(path)?.to) {
    case "keys": // Public keys, for receivers of webhooks, which have no token.
    case "callback": // They carry the token of the wake.
    case "ack":
    case "release":
      return [];
    case "claim":
      return [{ scope: "append", path: null }];
    default:
      return [{ scope: "admin", path: null }];
  }
}
