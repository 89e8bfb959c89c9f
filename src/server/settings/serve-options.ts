/** Serve options: what a server is opened with. */

import type { Host } from "../../core/base/host.ts";
import type { Time } from "../../core/base/time.ts";
import type { DatabaseDurability } from "../../streams/postgres/store-options.ts";
import type { RequestRecord } from "../http/request-track.ts";
import type { MountName } from "../router/paths.ts";
import type { RootChoice } from "../sessions/roots.ts";
import type { ServerSettings } from "./limits.ts";

export interface ServeOptions extends Partial<ServerSettings> {
  /** Directory for the server's own files: tokens, and keys that sign webhooks. */
  readonly dataDirectory: string;
  /**
   * What to serve (docs/server.md, Mounts). The code of others is not loaded, and their paths are
   * answered with 404. Default: everything.
   */
  readonly mounts?: readonly MountName[];
  /**
   * Directories to serve sessions from, or "found" for stores above the current directory and in
   * the home directory. Default: none. "found", and directories of other programs, are private:
   * their sessions need a link (`newLink` of the server) or a token, on this machine too.
   */
  readonly roots?: RootChoice;
  /**
   * Show example sessions while there are no others (demo/demo.ts), to this machine only. Default:
   * no.
   */
  readonly demo?: boolean;
  /**
   * The URL of a PostgreSQL database to keep streams in, shared with other servers:
   * `postgres://user@host/database`. Default: files in the data directory.
   */
  readonly store?: string;
  /**
   * What an acknowledged append must survive in that database (`openPostgresStore`). Default:
   * "disk".
   */
  readonly durability?: DatabaseDurability;
  /** How long a statement of that database may take, and connecting to it. Default: 5 seconds. */
  readonly statementMs?: number;
  readonly connectMs?: number;
  /**
   * Delete received sessions so long after their last change, at the start and every `retentionMs`;
   * at least a minute. The bytes of deleted streams are then removed at once, not after 30 days.
   * Default: never.
   */
  readonly keepReceivedMs?: number;
  /** Sign streams with the user's key, which is created if missing. Default: no. */
  readonly sign?: boolean;
  /**
   * Default: 127.0.0.1. An address that others can reach needs tokens (`verbatim server token create`).
   */
  readonly host?: string;
  /** Default: 4437. 0 picks a free port. */
  readonly port?: number;
  /**
   * Path of a list of logs to cosign: the server is a witness (docs/witnesses.md). Default: it is
   * not.
   */
  readonly witness?: string;
  /** Paths of a PEM key and certificate. If set, the server uses TLS. */
  readonly tls?: { readonly keyPath: string; readonly certPath: string };
  /** The public URL behind a proxy: `https://streams.example.com`. */
  readonly publicUrl?: string;
  /** The machine whose sessions are served. Default: this one. */
  readonly sessionHost?: Host;
  /** The clock and timers of requests, tokens, shares and expiry. Default: the real ones. */
  readonly time?: Time;
  /** Called after each request. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Called with what its operator should know: lowered limits, deleted sessions. Default: ignored. */
  readonly onNote?: (note: string) => void;
  /** Called for each fault of the server; clients only see INTERNAL. Default: ignored. */
  readonly onFault?: (what: string, cause: unknown) => void;
}
