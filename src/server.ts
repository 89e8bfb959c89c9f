/** `verbatim-log/server`: a server of the Durable Streams protocol, in your own process. */

export { VerbatimError } from "./base/errors.ts";
export type { RunningServer, ServeOptions } from "./server/serve.ts";
export type { ServerSettings } from "./server/settings.ts";
export { startServer } from "./server/start.ts";
