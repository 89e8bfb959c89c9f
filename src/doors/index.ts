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

import { nodeHost } from "../core/base/node-host.ts";
import { Store as OpenedStore } from "../sessions/store/store.ts";
import type { Store } from "../sessions/store/store-api.ts";
import type { OpenStoreOptions } from "../sessions/store/store-options.ts";

/** Opens a store of sessions; creates nothing on disk before the first session. */
export async function openStore(options: OpenStoreOptions = {}): Promise<Store> {
  if (options?.remote === undefined) return OpenedStore.open(nodeHost, options);
  const { openFollowedStore } = await import("../guard/remote/delivery/sender.ts");
  return openFollowedStore(nodeHost, options);
}

export type {
  CallErrors,
  LineFault,
  LockHolder,
  LogErrors,
  SessionErrors,
  SignedErrors,
} from "../core/base/errors.ts";
export type { ByteOffset } from "../core/base/offset.ts";
export {
  type CodedError,
  type ErrorClass,
  type ErrorOf,
  SessionError as VerbatimError,
} from "../core/base/published-errors.ts";
export type { OnBadLine } from "../core/log/bad-line-warning.ts";
export type { Durability, LogMode } from "../core/log/log-options.ts";
export type {
  Entry,
  FilePart,
  ImagePart,
  Metadata,
  Native,
  NewEntry,
  Part,
  Role,
  SessionLabels,
  Speaker,
  Usage,
} from "../core/model/entry.ts";
export type { SessionStatus } from "../core/model/summary.ts";
export type { EntireOptions } from "../dialects/entire/options.ts";
export type { BadEntry, EntryOptions, StoredEntry } from "../dialects/files/stored-entries.ts";
export type { AgentName, LayoutName } from "../dialects/registry.ts";
export type { Envelope } from "../dialects/rye/envelope.ts";
export type { RyeOptions } from "../dialects/rye/options.ts";
export type { ListOptions, Session, SessionSummary, Store } from "../sessions/store/store-api.ts";
export type {
  CommonOptions,
  CreateOptions,
  OpenOptions,
  OpenStoreOptions as StoreOptions,
} from "../sessions/store/store-options.ts";
export type { SignOption } from "../sessions/store/store-signing.ts";
