/**
 * `verbatim-log/postgres`: streams in PostgreSQL, for several servers at once. Needs the package
 * `pg`.
 *
 * @example
 * const store = await openPostgresStore("postgres://verbatim@localhost/streams");
 * await store.create("/chat/1", { contentType: "text/plain", body: new Uint8Array(), isClosed: false });
 * await store.append("/chat/1", { body: new TextEncoder().encode("hello"), close: false });
 * const { bytes } = await store.read("/chat/1", "start", 1_000_000);
 * await store.close();
 */

import { checkChoice, checkKind, checkOptions, type OptionKinds } from "../core/base/choice.ts";
import { openPostgresStore as open } from "../streams/postgres/postgres-store.ts";
import {
  DURABILITIES,
  type PostgresStore,
  type PostgresStoreOptions,
} from "../streams/postgres/store-options.ts";

const OPTIONS: OptionKinds<PostgresStoreOptions> = {
  schema: "text",
  durability: "any",
  readersMax: "count",
  statesMax: "count",
  statementMs: "count",
  connectMs: "count",
  resolveMs: "count",
  probeMs: "count",
  keepDeletedMs: "count",
  limits: "object",
  onBatch: "function",
  now: "function",
};

/**
 * Opens the streams in a database and creates its tables if they are missing. `url`:
 * `postgres://user@host:5432/database`; PGHOST, PGPASSWORD, PGPASSFILE and the like supply what it
 * does not say.
 */
export async function openPostgresStore(
  url: string,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  checkKind("url", url, "text");
  checkOptions("openPostgresStore", options, OPTIONS);
  checkChoice("durability", options.durability, DURABILITIES);
  return open(url, options);
}

export type { DirectoryErrors, StreamErrors } from "../core/base/errors.ts";
export { StreamError as VerbatimError } from "../core/base/published-errors.ts";
export type { CommitLimits } from "../streams/commit/commit-queue.ts";
export type { BatchReport } from "../streams/commit/committer.ts";
export type { OffsetToken } from "../streams/files/offset-token.ts";
export type {
  Appended,
  AppendRequest,
  Chunk,
  Created,
  CreateRequest,
  ForkRequest,
  Lifetime,
  ProducerTurn,
  ReadFrom,
  StoreHealth,
  StreamHead,
  StreamMessage,
  StreamStore,
} from "../streams/files/stream-store.ts";
export type {
  DatabaseDurability,
  DatabasePromises,
  PostgresStore,
  PostgresStoreOptions,
} from "../streams/postgres/store-options.ts";
