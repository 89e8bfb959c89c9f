/** Options: checks what `openServer` is called with. Each option belongs to the server or a mount. */

import {
  badOption,
  checkChoice,
  checkKind,
  checkOptions,
  nearest,
  type OptionKind,
  type OptionKinds,
} from "../../core/base/choice.ts";
import { oneLine } from "../../core/base/one-line.ts";
import { DURABILITIES } from "../../streams/postgres/store-options.ts";
import { limitsFault } from "../auth/tokens.ts";
import { chosenMounts } from "../router/mounts.ts";
import { MOUNT_NAMES, type MountName } from "../router/paths.ts";
import type { RootChoice } from "../sessions/roots.ts";
import { SERVER_SETTINGS } from "./limits.ts";
import type { ServeOptions } from "./serve-options.ts";

export interface ServerOptions
  extends Omit<ServeOptions, "sessionHost" | "dataDirectory" | "roots" | "time"> {
  /** The data directory: streams, tokens, and keys that sign webhooks. */
  readonly root: string;
  /**
   * Directories to serve sessions from, or "found" for stores above the current directory and in
   * the home directory. Default: none.
   */
  readonly sessionRoots?: RootChoice;
}

/** A shorter age would delete sessions that are being sent. */
export const KEPT_MS_MIN = 60_000;

type Kinds = Readonly<Record<string, OptionKind>>;

const SERVER_OPTIONS = {
  root: "text",
  mounts: "object",
  store: "text",
  durability: "any",
  statementMs: "count",
  connectMs: "count",
  sign: "boolean",
  host: "text",
  port: "count",
  tls: "object",
  publicUrl: "text",
  onRequest: "function",
  onNote: "function",
  onFault: "function",
} as const;

/** Options that only one mount reads: without it they are refused. */
const MOUNT_OPTIONS = {
  subscriptions: { allowLocalWebhooks: "boolean" },
  received: { keepReceivedMs: "count" },
  sessions: { sessionRoots: "any", sessions: "object" },
  demo: { demo: "boolean" },
  witness: { witness: "text" },
} as const satisfies Partial<Record<MountName, Kinds>>;

const OPTIONS: OptionKinds<Required<ServerOptions>> = {
  ...kindsOf(SERVER_SETTINGS),
  ...SERVER_OPTIONS,
  ...MOUNT_OPTIONS.subscriptions,
  ...MOUNT_OPTIONS.received,
  ...MOUNT_OPTIONS.sessions,
  ...MOUNT_OPTIONS.demo,
  ...MOUNT_OPTIONS.witness,
};

/** What people call an option. */
const WORDS: Readonly<Record<string, keyof ServerOptions>> = {
  dataDirectory: "root",
  data: "root",
  dir: "root",
  directory: "root",
  path: "root",
  roots: "sessionRoots",
  sessionDirectories: "sessionRoots",
  database: "store",
  postgres: "store",
  databaseUrl: "store",
  hostname: "host",
  address: "host",
  url: "publicUrl",
  baseUrl: "publicUrl",
  cert: "tls",
  key: "tls",
  https: "tls",
  origins: "allowOrigins",
  cors: "allowOrigins",
  signing: "sign",
  parts: "mounts",
  routes: "mounts",
  logger: "onRequest",
  onError: "onFault",
};

/** Throws BAD_SETTING. */
export function checkServerOptions(options: ServerOptions): void {
  checkNames(options);
  checkOptions("openServer", options, OPTIONS);
  checkKind("root", options.root, "text");
  checkChoice("durability", options.durability, DURABILITIES);
  const { sessionRoots, tls, sessions, mounts, keepReceivedMs, tokenLimits } = options;
  if (keepReceivedMs !== undefined && keepReceivedMs < KEPT_MS_MIN) {
    throw badOption("keepReceivedMs", `must be at least ${KEPT_MS_MIN}: a minute`);
  }
  const isRoots =
    sessionRoots === undefined || sessionRoots === "found" || sessionRoots.every?.(isText);
  if (!isRoots) throw badOption("sessionRoots", 'must be a list of directories, or "found"');
  if (tls) checkOptions("tls", tls, { keyPath: "text", certPath: "text" });
  const fault = tokenLimits === undefined ? null : limitsFault(tokenLimits);
  if (fault !== null) throw badOption("tokenLimits", `is refused: ${fault}`);
  if (sessions) checkOptions("sessions", sessions, kindsOf(SERVER_SETTINGS.sessions));
  checkMountOptions(options, chosenMounts(mounts));
}

/** A name without a likely meaning: forty others would not help. */
function checkNames(options: unknown): void {
  if (typeof options !== "object" || options === null) return; // Refused by checkOptions.
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue;
    const word = Object.hasOwn(WORDS, name) ? WORDS[name] : nearest(name, Object.keys(OPTIONS));
    const names = Object.keys(SERVER_OPTIONS).join(", ");
    const hint = word
      ? `did you mean ${word}?`
      : `it takes ${names}, and the options of its mounts and limits in docs/server.md`;
    throw badOption(oneLine(name, NAME_CHARS_MAX), `is not an option of openServer: ${hint}`);
  }
}

const NAME_CHARS_MAX = 40;

function checkMountOptions(options: ServerOptions, mounts: readonly MountName[]): void {
  for (const name of MOUNT_NAMES) {
    if (mounts.includes(name)) continue;
    const kinds: Kinds = Object(MOUNT_OPTIONS)[name] ?? {};
    for (const option of Object.keys(kinds)) {
      if (options[option as keyof ServerOptions] === undefined) continue;
      throw badOption(option, `is for the mount ${name}, which \`mounts\` leaves out`);
    }
  }
}

/** The kinds of settings, by their defaults. */
function kindsOf<T extends object>(defaults: T): OptionKinds<T> {
  const kindOf = (value: unknown): OptionKind =>
    typeof value === "number" ? "count" : typeof value === "boolean" ? "boolean" : "object";
  const kinds = Object.entries(defaults).map(([name, value]) => [name, kindOf(value)]);
  return Object.fromEntries(kinds) as OptionKinds<T>;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
