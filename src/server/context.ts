/** Context: what every handler receives. */

import type { Time } from "../base/time.ts";
import type { Demo } from "../demo/demo.ts";
import type { ReceivedSessions } from "../remote/receiving/received-sessions.ts";
import type { Sharing } from "../share/routes.ts";
import type { StreamStore } from "../streams/stream-store.ts";
import type { BrowserKeys } from "../tokens/browser-keys.ts";
import type { Witness } from "../witness/witness.ts";
import type { TokenGate } from "./auth/gate.ts";
import type { AnswerRoom } from "./http/answer.ts";
import type { BodyRoom } from "./http/body.ts";
import type { Front } from "./http/front.ts";
import type { Semaphore } from "./http/semaphore.ts";
import type { SessionService } from "./sessions/service.ts";
import type { ServerSettings } from "./settings.ts";
import type { EventFeeds } from "./streams/event-feed.ts";
import type { LiveReaders } from "./streams/live-readers.ts";
import type { StreamShares } from "./streams/stream-shares.ts";
import type { SubscriptionService } from "./subscriptions/service.ts";

export interface ServerContext {
  readonly store: StreamStore;
  readonly settings: ServerSettings;
  /** Whether only this machine can reach the server. */
  readonly isLocal: boolean;
  /** Listens and counts. */
  readonly front: Front;
  readonly gate: TokenGate;
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
  /** Links to parts of sessions. */
  readonly sharing: Sharing;
  readonly subscriptions: SubscriptionService;
  /** Example sessions, shown while there are no others. */
  readonly demo: Demo;
  /** Null unless the server is a witness. */
  readonly witness: Witness | null;
  /** Sessions that agents on other machines sent. */
  readonly received: ReceivedSessions;
  /** Sessions of every dialect, read-only. */
  readonly sessions: SessionService;
  readonly time: Time;
  /** From 0 to 1, like Math.random. */
  readonly random: () => number;
  /** Reports a fault of the server and what it was doing. Clients only see INTERNAL. */
  readonly onFault: (what: string, cause: unknown) => void;
}
