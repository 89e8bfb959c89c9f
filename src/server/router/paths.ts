/**
 * Paths: what the server answers below which path. `mounts.ts` says which part owns each.
 *
 * Mount names: what `openServer({ mounts })` chooses from.
 */

/** In the order in which they are opened. */
export const MOUNT_NAMES = [
  "streams",
  "subscriptions",
  "received",
  "demo",
  "sessions",
  "search",
  "usage",
  "shares",
  "witness",
  "admin",
  "viewer",
] as const;

/** The prefix of stream URLs; the stream's path follows, with its slash. */
export const STREAM_ROOT = "/v1/stream";
/** Subscriptions: no stream can have this path. */
export const CONTROL_ROOT = `${STREAM_ROOT}/__ds`;
export const SESSIONS_ROOT = "/v1/sessions";
export const SEARCH_PATH = "/v1/search";
export const TOOLS_PATH = "/v1/tools";
export const USAGE_PATH = "/v1/usage";
export const INSIGHTS_PATH = `${USAGE_PATH}/insights`;
/** For readers of a share, by its token; and for the owner of the sessions. */
export const SHARE_PATH = "/v1/share";
export const SHARES_PATH = "/v1/shares";
export const WITNESS_ROOT = "/witness";
/** Which received sessions are deleted. */
export const RETENTION_PATH = "/v1/retention";
export const DEMO_PATH = "/v1/demo";
/** Tokens, for those who manage them. */
export const ADMIN_ROOT = "/v1/admin";
export const TOKENS_PATH = `${ADMIN_ROOT}/tokens`;
/** Files of the viewer whose names change with their content. */
export const ASSET_ROOT = "/assets";
export const VIEWER_FILES = ["/", "/favicon.svg", "/licenses.md"] as const;
/** Where a link to private sessions leads. */
export const OPEN_PATH = "/open";
export const OPENAPI_PATH = "/v1/openapi.json";

/** Whether the path is the prefix, or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}

export type MountName = (typeof MOUNT_NAMES)[number];
