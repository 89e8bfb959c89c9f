/** `verbatim-log/server`: a server of the Durable Streams protocol, in your own process. */

import { type RunningServer, startServer } from "../server/serve.ts";
import { checkServerOptions, type ServerOptions } from "../server/settings/options.ts";

/**
 * Opens the data directory, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await openServer({ root: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  checkServerOptions(options);
  const { root, sessionRoots, ...others } = options;
  const roots = sessionRoots === undefined ? {} : { roots: sessionRoots };
  return startServer({ ...others, ...roots, dataDirectory: root });
}

export type {
  DirectoryErrors,
  HistoryErrors,
  ServerErrors,
  StreamErrors,
  SubscriptionRefusal,
  VerifyErrors,
} from "../core/base/errors.ts";
export { ServerError as VerbatimError } from "../core/base/published-errors.ts";
export type { TokenLimits } from "../server/auth/tokens.ts";
export type { RequestRecord } from "../server/http/request-track.ts";
export type { RouteName } from "../server/metrics/server-metrics.ts";
export type { MountName } from "../server/router/paths.ts";
export type { RunningServer } from "../server/serve.ts";
export type { RootChoice } from "../server/sessions/roots.ts";
export type { SessionLimits } from "../server/sessions/session-limits.ts";
export type { ServerSettings } from "../server/settings/limits.ts";
export type { ServerOptions } from "../server/settings/options.ts";
export type { DatabaseDurability } from "../streams/postgres/store-options.ts";
