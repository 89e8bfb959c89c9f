/**
 * Mount: a part of the server with paths of its own. It is loaded when the server is opened with
 * it, and not before.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Schema } from "../../client/schema.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import type { RequestTrack } from "../http/request-track.ts";
import type { ReceivedSessions } from "../received/received-sessions.ts";
import type { SessionService } from "../sessions/service.ts";
import type { MountName } from "./paths.ts";

export interface Mount {
  /** What it answers: these paths and everything below them. */
  readonly prefixes: readonly string[];
  /** What it shows comes from this mount. */
  readonly needs?: MountName;
  /** Loads its code. Null: without its option it serves nothing. */
  open(context: ServerContext, parts: SharedParts): Promise<OpenMount | null>;
  /** Its part of the OpenAPI document. */
  describe?(): Promise<MountDescription>;
}

export interface OpenMount {
  /** False: there is nothing at this path. */
  handle?(request: MountRequest): Promise<boolean>;
  /** Called when the server takes requests. */
  begin?(): void;
  /** Ends requests that wait; others may still finish. */
  stop?(): void;
  /** Called when every connection is closed. */
  close?(): Promise<void>;
  /** What mounts that are opened later use. */
  readonly parts?: SharedParts;
}

export interface SharedParts {
  readonly received?: ReceivedSessions;
  /** Example sessions, shown while there are no others. */
  readonly demo?: { readonly isShown: boolean; readonly root: string };
  readonly sessions?: SessionService;
  /** The name and public key of the witness, in one word. */
  readonly witnessKey?: string;
}

/** A request that was admitted. */
export interface MountRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** As it was sent, without its query. */
  readonly path: string;
  /** The decoded path of a stream, if the request is about one. */
  readonly stream: string | null;
  readonly track: RequestTrack;
  /** Null when no token was needed. */
  readonly pass: Admission | null;
}

export interface MountDescription {
  readonly paths: Readonly<Record<string, Schema>>;
  readonly schemas?: Readonly<Record<string, Schema>>;
  readonly securitySchemes?: Readonly<Record<string, Schema>>;
}
