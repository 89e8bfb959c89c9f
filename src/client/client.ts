/** Client: a server's sessions and streams, by `fetch` alone. */

import { type ClientOptions, Requester } from "./request.ts";
import { SessionsClient } from "./sessions.ts";
import { StreamsClient } from "./streams.ts";

export class VerbatimClient {
  readonly sessions: SessionsClient;
  readonly streams: StreamsClient;

  constructor(options: ClientOptions) {
    const requester = new Requester(options);
    this.sessions = new SessionsClient(requester);
    this.streams = new StreamsClient(requester);
  }
}
