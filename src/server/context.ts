/** Context: what every handler of the server is given. */

import type { StreamStore } from "../streams/stream-store.ts";
import type { TokenGate } from "./auth/gate.ts";
import type { Demo } from "./demo/demo.ts";
import type { AnswerRoom } from "./http/answer-room.ts";
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
  /** Only this machine can reach the server. */
  readonly isLocal: boolean;
  /** What listens, and what it counts. */
  readonly front: Front;
  readonly gate: TokenGate;
  readonly bodies: BodyRoom;
  /** Through which streams are read, and what is held of them for readers to take. */
  readonly reads: Semaphore;
  readonly answers: AnswerRoom;
  /** What one stream may have waiting for the disk. */
  readonly shares: StreamShares;
  /** Those that wait for new data; told when the server stops. */
  readonly readers: LiveReaders;
  /** What is sent to readers of events, made once for all who stand at the same place. */
  readonly feeds: EventFeeds;
  readonly subscriptions: SubscriptionService;
  /** What is shown to who has no session yet. */
  readonly demo: Demo;
  /** Sessions of every dialect, to read. */
  readonly sessions: SessionService;
  readonly nowMs: () => number;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** What nobody else is told: a fault of ours, with what was being done. */
  readonly onFault: (what: string, cause: unknown) => void;
}
