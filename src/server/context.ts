/** Context: what every handler receives. */

import type { Time } from "../core/base/time.ts";
import type { StreamStore } from "../streams/files/stream-store.ts";
import type { BrowserKeys } from "./auth/browser-keys.ts";
import type { TokenGate } from "./auth/gate.ts";
import type { ServerTokens } from "./auth/server-tokens.ts";
import type { AnswerRoom } from "./http/answer.ts";
import type { BodyRoom } from "./http/body.ts";
import type { Front } from "./http/front.ts";
import type { Semaphore } from "./http/semaphore.ts";
import type { SessionService } from "./sessions/service.ts";
import type { ServerSettings } from "./settings/limits.ts";
import type { ServeOptions } from "./settings/serve-options.ts";
import type { EventFeeds } from "./streams/event-feed.ts";
import type { LiveReaders } from "./streams/live-readers.ts";
import type { StreamShares } from "./streams/stream-shares.ts";

export interface ServerContext {
  readonly options: ServeOptions;
  readonly settings: ServerSettings;
  readonly store: StreamStore;
  /** The server's URL for others, without a slash at the end. */
  readonly baseUrl: string;
  /** Whether only this machine can reach the server. */
  readonly isLocal: boolean;
  /** Listens and counts. */
  readonly front: Front;
  readonly gate: TokenGate;
  /** Limits of tokens, and where tokens are. */
  readonly tokens: ServerTokens;
  /** Null unless sessions are private. */
  readonly browsers: BrowserKeys | null;
  readonly bodies: BodyRoom;
  /** Limits concurrent reads of streams, and the bytes of answers held in memory. */
  readonly reads: Semaphore;
  readonly answers: AnswerRoom;
  /** Limits the appends of one stream that wait for the disk. */
  readonly shares: StreamShares;
  /** Requests that wait for new data; they end when the server stops. */
  readonly readers: LiveReaders;
  /** Sends new events, encoded once for all readers at the same offset. */
  readonly feeds: EventFeeds;
  readonly time: Time;
  /** From 0 to 1, like Math.random. */
  readonly random: () => number;
  /** Reports a fault of the server and what it was doing. Clients only see INTERNAL. */
  readonly onFault: (what: string, cause: unknown) => void;
}

/** What handlers of sessions receive. */
export interface SessionContext extends ServerContext {
  /** Sessions of every dialect, read-only. */
  readonly sessions: SessionService;
}
