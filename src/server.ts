/** `verbatim-log/server`: a server of the Durable Streams protocol, in your own process. */

export { VerbatimError } from "./base/errors.ts";
export type { RequestRecord } from "./server/http/request-track.ts";
export type { RouteName } from "./server/metrics/server-metrics.ts";
export type { RunningServer, ServeOptions } from "./server/serve.ts";
export { startServer } from "./server/serve.ts";
export type { SessionLimits } from "./server/sessions/limits.ts";
export type { RootChoice } from "./server/sessions/roots.ts";
export type { ServerSettings } from "./server/settings.ts";
