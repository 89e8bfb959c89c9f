/** Client: a server's sessions and streams, using only `fetch`. */

import { type ClientOptions, Requester } from "./request.ts";
import type { UsageOptions, UsageReport } from "./search-shapes.ts";
import { SessionsClient } from "./sessions.ts";
import { StreamsClient } from "./streams.ts";

export class VerbatimClient {
  readonly sessions: SessionsClient;
  readonly streams: StreamsClient;
  readonly #requester: Requester;

  constructor(options: ClientOptions) {
    const requester = new Requester(options);
    this.#requester = requester;
    this.sessions = new SessionsClient(requester);
    this.streams = new StreamsClient(requester);
  }

  /** Whether the server shows example sessions, because the user has none. */
  demo(): Promise<{ readonly isShown: boolean }> {
    return this.#requester.json("/v1/demo");
  }

  /** Removes the example sessions for good. */
  async removeDemo(): Promise<void> {
    await this.#requester.send("/v1/demo", { method: "DELETE" });
  }

  /** Usage of all sessions: by day, model and agent, and by tool. */
  usage({ signal, ...options }: UsageOptions = {}): Promise<UsageReport> {
    return this.#requester.json("/v1/usage", { query: { ...options }, ...(signal && { signal }) });
  }
}
