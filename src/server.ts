/** `verbatim-log/server`: a server of the Durable Streams protocol, in your own process. */

import { badOption, checkChoice, checkKind, checkOptions, type OptionKind } from "./base/choice.ts";
import { DURABILITIES } from "./postgres/store-options.ts";
import type { RunningServer, ServeOptions } from "./server/serve.ts";
import { startServer } from "./server/serve.ts";
import type { RootChoice } from "./server/sessions/roots.ts";
import { SERVER_SETTINGS } from "./server/settings.ts";

type Kinds = Readonly<Record<string, OptionKind>>;

export interface ServerOptions
  extends Omit<ServeOptions, "createShare" | "dataDirectory" | "roots" | "time"> {
  /** The data directory: streams, tokens, and keys that sign webhooks. */
  readonly root: string;
  /**
   * Directories to serve sessions from, or "found" for stores above the current directory and in
   * the home directory. Default: none.
   */
  readonly sessionRoots?: RootChoice;
}

const OPTIONS: Kinds = {
  ...kindsOf(SERVER_SETTINGS),
  root: "text",
  sessionRoots: "any",
  demo: "boolean",
  sign: "boolean",
  store: "text",
  durability: "any",
  statementMs: "count",
  connectMs: "count",
  host: "text",
  port: "count",
  tls: "object",
  publicUrl: "text",
  onRequest: "function",
  onNote: "function",
  onFault: "function",
};

/**
 * Opens the data directory, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await openServer({ root: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  checkOptions("openServer", options, OPTIONS);
  checkKind("root", options.root, "text");
  checkChoice("durability", options.durability, DURABILITIES);
  const { root, sessionRoots, tls, sessions } = options;
  const isRoots =
    sessionRoots === undefined || sessionRoots === "found" || sessionRoots.every?.(isText);
  if (!isRoots) throw badOption("sessionRoots", 'must be a list of directories, or "found"');
  if (tls) checkOptions("tls", tls, { keyPath: "text", certPath: "text" });
  if (sessions) checkOptions("sessions", sessions, kindsOf(SERVER_SETTINGS.sessions));
  const { root: _, sessionRoots: __, ...rest } = options;
  const roots = sessionRoots === undefined ? {} : { roots: sessionRoots };
  return startServer({ ...rest, ...roots, dataDirectory: root });
}

/** The kinds of settings, by their defaults. */
function kindsOf(defaults: object): Kinds {
  const kindOf = (value: unknown): OptionKind =>
    typeof value === "number" ? "count" : typeof value === "boolean" ? "boolean" : "object";
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, kindOf(value)]));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

export { VerbatimError } from "./base/errors.ts";
export type { SessionLimits } from "./listing/session-limits.ts";
export type { Durability } from "./postgres/store-options.ts";
export type { RequestRecord } from "./server/http/request-track.ts";
export type { RouteName } from "./server/metrics/server-metrics.ts";
export type { RunningServer } from "./server/serve.ts";
export type { RootChoice } from "./server/sessions/roots.ts";
export type { ServerSettings } from "./server/settings.ts";
