/**
 * `verbatim-log`: stores of sessions, in our own layout or in that of another program.
 *
 * @example
 * const store = await openStore();
 * const session = await store.create();
 * await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
 * for await (const entry of session.entries()) console.log(entry.kind, entry.parts);
 * await store.close();
 */

import { nodeHost } from "./base/node-host.ts";
import type { Store } from "./store/published.ts";
import { Store as OpenedStore } from "./store/store.ts";
import type { OpenStoreOptions } from "./store/store-options.ts";

/** Opens a store of sessions; creates nothing on disk before the first session. */
export async function openStore(options: OpenStoreOptions = {}): Promise<Store> {
  if (options?.remote === undefined) return new OpenedStore(nodeHost, options);
  const { openFollowedStore } = await import("./remote/followed-store.ts");
  return openFollowedStore(nodeHost, options);
}

export {
  type ErrorCode,
  type ErrorDetails,
  type LineFault,
  type LockHolder,
  type Provider,
  type SubscriptionRefusal,
  VerbatimError,
} from "./base/errors.ts";
export type { ByteOffset } from "./base/offset.ts";
export type { DialectName } from "./dialects/all.ts";
export type { Native } from "./dialects/dialect.ts";
export type { EntireOptions } from "./dialects/entire/options.ts";
export type { BadEntry, EntryOptions, StoredEntry } from "./dialects/files/stored-entries.ts";
export type { Envelope } from "./dialects/rye/envelope.ts";
export type { RyeOptions } from "./dialects/rye/options.ts";
export type { OnBadLine } from "./log/bad-line-warning.ts";
export type { Durability, LogMode } from "./log/log-options.ts";
export type { Entry, NewEntry, Part, Role, Speaker, Usage } from "./model/entry.ts";
export type { SessionStatus } from "./model/summary.ts";
export type { LegacyProfile } from "./proof/envelopes.ts";
export type { ListOptions, Session, SessionSummary, Store } from "./store/published.ts";
export type {
  CommonOptions,
  CreateOptions,
  OpenOptions,
  OpenStoreOptions as StoreOptions,
} from "./store/store-options.ts";
export type { SignOption } from "./store/store-signing.ts";
