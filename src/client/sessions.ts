/** Sessions: the sessions API of a server, call by call. docs/api.md describes it. */

import { checkKind, checkOptions, checkWhole, type OptionKinds } from "../core/base/choice.ts";
import { parseExactly } from "../core/base/exact-numbers.ts";
import type { SessionFinds } from "./find-shapes.ts";
import { followEvents, type SessionEvent, type SessionFollowOptions } from "./follow.ts";
import type { NoteChanges, NoteOptions, SessionNotes } from "./note-shapes.ts";
import type { ExchangesPage, OutlinePage, SessionThreads } from "./outline-shapes.ts";
import type { NewSession, PostedEntries, PostOptions, SentEntry } from "./posted-shapes.ts";
import { numberIn, type Requester } from "./request.ts";
import type { RetentionReport } from "./retention-shapes.ts";
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
  Whereabouts,
} from "./session-shapes.ts";
import type { CostRange, SessionCosts } from "./usage-shapes.ts";

/** Only sessions that match all of these. */
export interface SessionFilter {
  readonly dialect?: SessionItem["dialect"];
  readonly status?: NonNullable<SessionItem["status"]>;
  /** Last changed at `since` or later, and before `until`. */
  readonly since?: string;
  readonly until?: string;
  /** The title contains this text, ignoring case. */
  readonly title?: string;
  /** Started by the session with this id. */
  readonly parent?: string;
  /** `agentLabel` of the session. */
  readonly agent?: string;
  /** `=` and a project, part of the name of one, or a directory and all below it. */
  readonly project?: string;
  readonly model?: string;
  readonly verdict?: string;
  /** Sent by this machine, or this user, as the sender says. */
  readonly machine?: string;
  readonly user?: string;
  /** Of the user's notes, or the session's own. */
  readonly tag?: string;
  /** True: only sessions that the user starred. */
  readonly starred?: boolean;
  /** False leaves out sessions that another one began. Default: true. */
  readonly subagents?: boolean;
}

export interface SessionListOptions extends SessionFilter {
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
  /** The largest first. Default: updated. */
  readonly sort?: "updated" | "cost" | "tokens" | "duration";
  /** Also counts by each of these filters, and keeps costs and verdicts up to date. */
  readonly facets?: boolean;
  /** True: only sessions that are being written. */
  readonly live?: boolean;
}

/** At most one of `from`, `before` and `around`; without any, the last entries. */
export interface EntryRange {
  readonly from?: number;
  readonly before?: number;
  readonly around?: number;
  readonly limit?: number;
  /** False leaves out the parsed lines. */
  readonly native?: boolean;
  /** Only what the subagent of this call wrote into the session's log; with `from` or nothing. */
  readonly call?: string;
}

export interface OutlineRange {
  /** The first offset; `next` of the page before. */
  readonly from?: number;
  readonly limit?: number;
  /** Also marks of files that were read. Default: false. */
  readonly reads?: boolean;
}

export type ExchangeRange = Omit<OutlineRange, "reads">;

export interface ByteRange {
  readonly from?: number;
  readonly to?: number;
}

export interface MarkdownChoices {
  readonly thinking?: boolean;
  readonly tools?: boolean;
  readonly metadata?: boolean;
}

const FILTER: OptionKinds<SessionFilter> = {
  dialect: "text",
  status: "text",
  since: "text",
  until: "text",
  title: "string",
  parent: "text",
  agent: "text",
  project: "text",
  model: "text",
  verdict: "text",
  machine: "text",
  user: "text",
  tag: "text",
  starred: "boolean",
  subagents: "boolean",
};
const LIST: OptionKinds<SessionListOptions> = {
  ...FILTER,
  limit: "count",
  cursor: "text",
  sort: "text",
  facets: "boolean",
  live: "boolean",
};
const ENTRIES: OptionKinds<EntryRange> = {
  from: "count",
  before: "count",
  around: "count",
  limit: "count",
  native: "boolean",
  call: "text",
};
const OUTLINE: OptionKinds<OutlineRange> = { from: "count", limit: "count", reads: "boolean" };
const EXCHANGES: OptionKinds<ExchangeRange> = { from: "count", limit: "count" };
const COSTS: OptionKinds<CostRange> = { from: "count", limit: "count", columns: "boolean" };
const BYTES: OptionKinds<ByteRange> = { from: "count", to: "count" };
const MARKDOWN: OptionKinds<MarkdownChoices> = {
  thinking: "boolean",
  tools: "boolean",
  metadata: "boolean",
};
const NEW: OptionKinds<NewSession> = {
  id: "text",
  agent: "text",
  parent: "text",
  title: "text",
  tags: "object",
  user: "text",
  metadata: "object",
  folder: "text",
};
const POSTED: OptionKinds<PostOptions> = { idempotencyKey: "text" };
const NOTED: OptionKinds<NoteChanges> = {
  starred: "boolean",
  title: "any",
  tags: "object",
  note: "any",
};
const SEARCHED: OptionKinds<SearchOptions> = {
  agent: "text",
  project: "text",
  model: "text",
  verdict: "text",
  machine: "text",
  user: "text",
  status: "text",
  tag: "text",
  starred: "boolean",
  subagents: "boolean",
  since: "text",
  until: "text",
  kind: "text",
  perSession: "count",
  limit: "count",
  cursor: "text",
  session: "text",
  typing: "boolean",
  signal: "object",
};
const FOLLOWED: OptionKinds<SessionFollowOptions> = {
  from: "any",
  native: "boolean",
  signal: "object",
  onConnection: "function",
};

const ROOT = "/v1/sessions";
const SEARCH = "/v1/search";
const RETENTION = "/v1/retention";

export class SessionsClient {
  readonly #requester: Requester;

  /** @internal */
  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** One page, the last changed first unless sorted otherwise. */
  async list(options: SessionListOptions = {}): Promise<SessionPage> {
    checkOptions("list", options, LIST);
    return this.#requester.json(ROOT, { query: { ...options } });
  }

  /** All of them, page by page. */
  async *all(filter: SessionFilter = {}): AsyncGenerator<SessionItem> {
    checkOptions("all", filter, FILTER);
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
  async search(query: string, given: SearchOptions = {}): Promise<SearchPage> {
    checkKind("query", query, "string");
    checkOptions("search", given, SEARCHED);
    const { signal, ...options } = given;
    const asking = { query: { q: query, ...options }, ...(signal && { signal }) };
    return this.#requester.json(SEARCH, asking);
  }

  /** The rule by which the server deletes received sessions, and what it deleted. */
  async retention(): Promise<RetentionReport> {
    return this.#requester.json(RETENTION);
  }

  /** Creates a session on the server, which takes entries by `append`. */
  async create(session: NewSession = {}, options: PostOptions = {}): Promise<PostedEntries> {
    checkOptions("create", session, NEW);
    return this.#post(ROOT, session, options);
  }

  /**
   * Appends an entry, or several at once, to a session that was created over HTTP. All of them are
   * durable when it resolves, or none is written. With `idempotencyKey`, repeat a request that failed.
   */
  async append(
    id: string,
    entries: SentEntry | readonly SentEntry[],
    options: PostOptions = {},
  ): Promise<PostedEntries> {
    checkKind("entries", entries, "object");
    return this.#post(pathOf(id, "entries"), entries, options);
  }

  async #post(path: string, sent: object, options: PostOptions): Promise<PostedEntries> {
    checkOptions("options", options, POSTED);
    const { idempotencyKey: key } = options;
    return this.#requester.json(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
      body: JSON.stringify(sent),
    });
  }

  async get(id: string): Promise<SessionHead> {
    return this.#requester.json(pathOf(id));
  }

  /**
   * The id of another session of the same store, by its own id: one that this session started.
   * `get` tells whether it exists.
   */
  idInSameStore(id: string, session: string): string {
    const bytes = new TextEncoder().encode(session);
    const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const name = encoded.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${id.slice(0, id.indexOf("."))}.${name}`;
  }

  async entries(id: string, range: EntryRange = {}): Promise<EntryPage> {
    checkOptions("entries", range, ENTRIES);
    const query = { ...range, exact: true };
    const response = await this.#requester.send(pathOf(id, "entries"), { query });
    return parseExactly(await response.text()) as EntryPage;
  }

  /**
   * The entries from a place on, and then those that any process appends, each once.
   *
   * @example
   * for await (const event of client.sessions.follow(id, { from: "end", signal })) {
   *   if (event.type === "entry") console.log(event.kind, event.entry?.parts);
   * }
   */
  follow(id: string, options: SessionFollowOptions = {}): AsyncGenerator<SessionEvent> {
    checkOptions("follow", options, FOLLOWED);
    if (options.from !== undefined && options.from !== "end") checkWhole("from", options.from);
    return followEvents(this.#requester, pathOf(id, "events"), options);
  }

  /** Prompts, failures and edits, in order: all that the server knows, page by page. */
  async outline(id: string, range: OutlineRange = {}): Promise<OutlinePage> {
    checkOptions("outline", range, OUTLINE);
    return this.#requester.json(pathOf(id, "outline"), { query: { ...range } });
  }

  /** The exchanges of the outline as columns of numbers: small also for a long session. */
  async exchanges(id: string, range: ExchangeRange = {}): Promise<ExchangesPage> {
    checkOptions("exchanges", range, EXCHANGES);
    return this.#requester.json(pathOf(id, "exchanges"), { query: { ...range } });
  }

  /** The subagents that its calls started, and the call that started it. */
  async threads(id: string): Promise<SessionThreads> {
    return this.#requester.json(pathOf(id, "threads"));
  }

  /** Whether it is still in its place, and where it is otherwise. Reads no log. */
  async whereabouts(id: string): Promise<Whereabouts> {
    return this.#requester.json(pathOf(id, "whereabouts"));
  }

  /** What `verbatim scan` finds now, by line, to mark it. Reads the whole session. */
  async finds(id: string): Promise<SessionFinds> {
    return this.#requester.json(pathOf(id, "finds"));
  }

  /** Its entries with what `verbatim scan` finds masked, as the bytes of a masked copy. */
  async masked(id: string): Promise<Uint8Array> {
    const response = await this.#requester.send(pathOf(id, "masked"));
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The log's own bytes; as many of the range as fit one response. */
  async bytes(id: string, range: ByteRange = {}): Promise<SessionBytes> {
    checkOptions("bytes", range, BYTES);
    const response = await this.#requester.send(pathOf(id, "bytes"), { query: { ...range } });
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      from: numberIn(response, "Session-From"),
      to: numberIn(response, "Session-To"),
      end: numberIn(response, "Session-End"),
    };
  }

  /** The checkpoints that cover a range, to verify them yourself. */
  async checkpoints(id: string, range: ByteRange = {}): Promise<CheckpointPage> {
    checkOptions("checkpoints", range, BYTES);
    return this.#requester.json(pathOf(id, "checkpoints"), { query: { ...range } });
  }

  async markdown(id: string, choices: MarkdownChoices = {}): Promise<string> {
    checkOptions("markdown", choices, MARKDOWN);
    const response = await this.#requester.send(pathOf(id, "markdown"), { query: { ...choices } });
    return response.text();
  }

  /** The server's verdict, by the trust of the server's user. */
  async verify(id: string): Promise<SessionVerdict> {
    return this.#requester.json(pathOf(id, "verify"));
  }

  /** The notes of the user who runs the server. */
  async notes(id: string): Promise<SessionNotes> {
    return this.#requester.json(pathOf(id, "notes"));
  }

  /** Changes those on the session, or on the entry that begins at an offset. */
  async annotate(
    id: string,
    changes: NoteChanges,
    options: NoteOptions = {},
  ): Promise<SessionNotes> {
    checkOptions("annotate", changes, NOTED);
    checkOptions("annotate", options, { entry: "count" });
    return this.#requester.json(pathOf(id, "notes"), {
      method: "PATCH",
      query: { ...options },
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(changes),
    });
  }

  /** What the session recorded itself. */
  async usage(id: string): Promise<SessionUsage> {
    return this.#requester.json(pathOf(id, "usage"));
  }

  /** What it cost, by prompt and by tool call; while `counting` is not null, ask again. */
  async costs(id: string, range: CostRange = {}): Promise<SessionCosts> {
    checkOptions("costs", range, COSTS);
    return this.#requester.json(pathOf(id, "costs"), { query: { ...range } });
  }
}

function pathOf(id: string, part?: string): string {
  checkKind("id", id, "text");
  const session = `${ROOT}/${encodeURIComponent(id)}`;
  return part === undefined ? session : `${session}/${part}`;
}
