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
import { Store } from "./store/store.ts";
import type { OpenStoreOptions } from "./store/store-options.ts";

/** Opens a store of sessions; creates nothing on disk before the first session. */
export async function openStore(options: OpenStoreOptions = {}): Promise<Store> {
  return new Store(nodeHost, options);
}

export {
  type ErrorCode,
  type ErrorDetails,
  type LineFault,
  type LockHolder,
  VerbatimError,
} from "./base/errors.ts";
export type { DialectName } from "./dialects/all.ts";
export type { Native } from "./dialects/dialect.ts";
export type { BadEntry, EntryOptions, StoredEntry } from "./dialects/files/stored-entries.ts";
export type { Entry, NewEntry, Part, Role, Usage } from "./model/entry.ts";
export type { ListOptions, SessionSummary } from "./store/list.ts";
export type { Session } from "./store/session.ts";
export type { CreateOptions, Store } from "./store/store.ts";
export type { OpenStoreOptions as StoreOptions } from "./store/store-options.ts";
export type { SignOption } from "./store/store-signing.ts";
