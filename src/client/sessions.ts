/** Sessions: the sessions API of a server, call by call. docs/api.md describes it. */

import { type FollowOptions, followEvents, type SessionEvent } from "./follow.ts";
import { numberIn, type Requester } from "./request.ts";
import type { SearchOptions, SearchPage } from "./search-shapes.ts";
import type {
  CheckpointPage,
  EntryPage,
  SessionBytes,
  SessionHead,
  SessionItem,
  SessionPage,
  SessionUsage,
  SessionVerdict,
} from "./session-shapes.ts";

/** Only sessions that match all of these. */
export interface SessionFilter {
  readonly dialect?: SessionItem["dialect"];
  readonly status?: NonNullable<SessionItem["status"]>;
  /** Last changed at `since` or later, and before `until`. */
  readonly since?: string;
  readonly until?: string;
  /** The title contains this text, ignoring case. */
  readonly title?: string;
}

export interface SessionListOptions extends SessionFilter {
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

/** At most one of `from`, `before` and `around`; without any, the last entries. */
export interface EntryRange {
  readonly from?: number;
  readonly before?: number;
  readonly around?: number;
  readonly limit?: number;
  /** False leaves out the parsed lines. */
  readonly native?: boolean;
}

export interface ByteRange {
  readonly from?: number;
  readonly to?: number;
}

export interface MarkdownChoices {
  readonly thinking?: boolean;
  readonly tools?: boolean;
  readonly metadata?: boolean;
}

const ROOT = "/v1/sessions";
const SEARCH = "/v1/search";

export class SessionsClient {
  readonly #requester: Requester;

  /** @internal */
  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** One page, the last changed first. */
  list(options: SessionListOptions = {}): Promise<SessionPage> {
    return this.#requester.json(ROOT, { query: { ...options } });
  }

  /** All of them, page by page. */
  async *all(filter: SessionFilter = {}): AsyncGenerator<SessionItem> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: SessionPage = await this.list({ ...filter, ...(cursor ? { cursor } : {}) });
      yield* page.sessions;
      cursor = page.next;
    }
  }

  /**
   * Entries that have all of the words, the latest first: `timeout "port 80" -test role:tool`. The
   * syntax is docs/api.md's; a wrong one is refused with the code SEARCH_QUERY.
   */
  search(query: string, { signal, ...options }: SearchOptions = {}): Promise<SearchPage> {
    const asking = { query: { q: query, ...options }, ...(signal && { signal }) };
    return this.#requester.json(SEARCH, asking);
  }

  get(id: string): Promise<SessionHead> {
    return this.#requester.json(pathOf(id));
  }

  /**
   * The id of another session of the same store, by its own id: one that this session started.
   * `get` tells whether it exists.
   */
  beside(id: string, session: string): string {
    const bytes = new TextEncoder().encode(session);
    const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const name = encoded.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${id.slice(0, id.indexOf("."))}.${name}`;
  }

  entries(id: string, range: EntryRange = {}): Promise<EntryPage> {
    return this.#requester.json(pathOf(id, "entries"), { query: { ...range } });
  }

  /**
   * The entries from a place on, and then those that any process appends, each once.
   *
   * @example
   * for await (const event of client.sessions.follow(id, { from: "end", signal })) {
   *   if (event.type === "entry") console.log(event.kind, event.entry?.parts);
   * }
   */
  follow(id: string, options: FollowOptions = {}): AsyncGenerator<SessionEvent> {
    return followEvents(this.#requester, pathOf(id, "events"), options);
  }

  /** The log's own bytes; as many of the range as fit one response. */
  async bytes(id: string, range: ByteRange = {}): Promise<SessionBytes> {
    const response = await this.#requester.send(pathOf(id, "bytes"), { query: { ...range } });
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      from: numberIn(response, "Session-From"),
      to: numberIn(response, "Session-To"),
      end: numberIn(response, "Session-End"),
    };
  }

  /** The checkpoints that cover a range, to verify them yourself. */
  checkpoints(id: string, range: ByteRange = {}): Promise<CheckpointPage> {
    return this.#requester.json(pathOf(id, "checkpoints"), { query: { ...range } });
  }

  async markdown(id: string, choices: MarkdownChoices = {}): Promise<string> {
    const response = await this.#requester.send(pathOf(id, "markdown"), { query: { ...choices } });
    return response.text();
  }

  /** The server's verdict, by the trust of the server's user. */
  verify(id: string): Promise<SessionVerdict> {
    return this.#requester.json(pathOf(id, "verify"));
  }

  usage(id: string): Promise<SessionUsage> {
    return this.#requester.json(pathOf(id, "usage"));
  }
}

function pathOf(id: string, part?: string): string {
  const session = `${ROOT}/${encodeURIComponent(id)}`;
  return part === undefined ? session : `${session}/${part}`;
}
