/**
 * Session routes: from a URL under `/v1/sessions` to its handler. Those that write are in
 * `server/posted`, and the notes.
 *
 * A path is split as it was sent and never decoded: no character of an id needs it, so nothing
 * encoded can become a slash or a dot in a file path.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ExchangesPage, OutlinePage, SessionThreads } from "../../client/outline-shapes.ts";
import type { Whereabouts } from "../../client/session-shapes.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { lookAtLog } from "../../sessions/catalog/pages.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { programIdOf } from "../../sessions/list/whose.ts";
import { threadsOf } from "../../sessions/outline/threads.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext, SessionContext } from "../context.ts";
import { refuseWriting } from "../http/answer.ts";
import { rawPath } from "../http/target.ts";
import type { ReceivedSessions } from "../received/received-sessions.ts";
import type { OpenMount, SharedParts } from "../router/mount.ts";
import { SESSIONS_ROOT } from "../router/paths.ts";
import { costsAnswer } from "../usage/route.ts";
import { liveEntries } from "./events.ts";
import { answerFinds, answerMasked } from "./finds.ts";
import { listPage } from "./list.ts";
import { notesAnswer } from "./notes.ts";
import { Query } from "./query.ts";
import { type Sees, seenBy, sessionNotFound, urlIdOf } from "./roots.ts";
import { MISSING_VERDICT, seenProject } from "./row-filter.ts";
import { type ServedSession, SessionService } from "./service.ts";
import type { SessionLimits } from "./session-limits.ts";
import {
  answerMarkdown,
  answerSessionBytes,
  checkpointsPage,
  entriesPage,
} from "./session-reads.ts";
import { whereaboutsOf } from "./whereabouts.ts";
import {
  answerJsonText,
  itemOf,
  programOf,
  resumeCommandOf,
  sessionItem,
  usageItem,
} from "./wire.ts";

export const EXCHANGES_PARAMETERS = ["from", "limit"] as const;
export const OUTLINE_PARAMETERS = [...EXCHANGES_PARAMETERS, "reads"] as const;

interface SessionRequest {
  readonly context: SessionContext;
  readonly served: ServedSession;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pass: Admission | null;
}

type Handler = (asked: SessionRequest) => Promise<void>;

/** The parts of a session, by the last segment of the URL; "" is the session itself. */
export const SESSION_PARTS: Readonly<Record<string, Handler>> = {
  "": answerSession,
  entries: read(({ context, served, request }) => {
    return entriesPage(context.sessions, served, request.url ?? "/");
  }),
  checkpoints: read(({ context, served, request }) => {
    return checkpointsPage(context.sessions, served, request.url ?? "/");
  }),
  outline: async ({ context: { sessions }, served, request, response }) => {
    const query = new Query(request.url ?? "/", OUTLINE_PARAMETERS);
    const range = { ...outlineRange(query, sessions.limits), reads: query.flag("reads", false) };
    const part: OutlinePage = await sessions.outlines.part(served.session, range);
    answerJsonText(response, JSON.stringify(part), sessions.room);
  },
  exchanges: async ({ context: { sessions }, served, request, response }) => {
    const range = outlineRange(
      new Query(request.url ?? "/", EXCHANGES_PARAMETERS),
      sessions.limits,
    );
    const page: ExchangesPage = await sessions.outlines.exchanges(served.session, range);
    answerJsonText(response, JSON.stringify(page), sessions.room);
  },
  whereabouts: ({ served, ...asked }) => {
    return answerWhereabouts(asked, urlIdOf(served.store, served.session.id));
  },
  bytes: ({ context: { sessions }, served, request, response }) => {
    return sessions.reads.run(() => {
      return answerSessionBytes(sessions, served, request.url ?? "/", response);
    });
  },
  events: ({ context, served, request, response, pass }) => {
    return liveEntries(context, served, request, response, pass);
  },
  markdown: async ({ context: { sessions }, served, request, response }) => {
    // Not limited by the semaphore: it lasts as long as its reader wants.
    const leave = sessions.followers.add(() => {}, null);
    try {
      await answerMarkdown(served, request, response);
    } finally {
      leave();
    }
  },
  verify: async ({ context: { sessions }, served, request, response }) => {
    new Query(request.url ?? "/", []);
    const { id, logId } = served.session;
    const report = await sessions.verdicts.verify(served.store, { id, logId });
    answerJsonText(response, JSON.stringify(report), sessions.room);
  },
  threads: async ({ context: { sessions }, served, request, response, pass }) => {
    new Query(request.url ?? "/", []);
    const threads = await threadsAnswer(sessions, served, seenBy(pass));
    answerJsonText(response, JSON.stringify(threads), sessions.room);
  },
  costs: async ({ context: { sessions }, served, request, response }) => {
    const url = request.url ?? "/";
    const costs = await sessions.reads.run(() => costsAnswer(sessions, served, url));
    answerJsonText(response, JSON.stringify(costs), sessions.room);
  },
  notes: async ({ context: { sessions }, served, request, response }) => {
    const text = await notesAnswer(sessions, served, request);
    answerJsonText(response, text, sessions.room);
  },
  finds: ({ context: { sessions }, served, request, response }) => {
    return answerFinds(sessions, served, request.url ?? "/", response);
  },
  masked: ({ context: { sessions }, served, request, response }) => {
    return answerMasked(sessions, served, request.url ?? "/", response);
  },
  usage: async ({ context: { sessions }, served, request, response }) => {
    new Query(request.url ?? "/", []);
    const facts = await sessions.known(served);
    answerJsonText(response, JSON.stringify(usageItem(served.store, facts)), sessions.room);
  },
};

function outlineRange(query: Query, { outlineDefault, outlineMax }: SessionLimits) {
  const limit = query.number("limit", 1, outlineMax) ?? outlineDefault;
  return { from: query.offset("from") ?? 0, limit };
}

export async function sessionsMount(
  context: ServerContext,
  parts: SharedParts,
): Promise<OpenMount> {
  await loadDialects(); // Any agent may begin to write while we run.
  const sessions = serviceOf(context, parts);
  const served: SessionContext = { ...context, sessions };
  const posted = parts.received && (await postedRoute(served, parts.received));
  return {
    async handle(asked) {
      const { request, response, track, pass } = asked;
      track.route = "sessions";
      await sessions.listReceived();
      const [id = ""] = segmentsIn(request);
      if (posted && request.method === "POST" && takesPost(request)) await posted.answer(asked, id);
      else await handleSessions(served, request, response, pass);
      return true;
    },
    stop: () => sessions.followers.stop(),
    close: () => sessions.close(),
    parts: { sessions },
  };
}

function serviceOf(
  { options, settings, gate, time, onFault }: ServerContext,
  { demo, received }: SharedParts,
): SessionService {
  return new SessionService({
    host: options.sessionHost ?? nodeHost,
    roots: options.roots ?? [],
    moreRoots: () => (demo?.isShown ? [demo.root] : []),
    received,
    sendersBelow: (path) => gate.sendersBelow(path),
    cwd: process.cwd(),
    limits: settings.sessions,
    nowMs: time.nowMs,
    onFault,
  });
}

async function postedRoute(context: SessionContext, received: ReceivedSessions) {
  const { PostedRoute } = await import("../posted/route.ts");
  return new PostedRoute(context, received);
}

/** Whether the path is one of posted sessions. */
function takesPost(request: IncomingMessage): boolean {
  const [id = "", part = "", ...more] = segmentsIn(request);
  return part === (id === "" ? "" : "entries") && more.length === 0;
}

function segmentsIn({ url = "/" }: IncomingMessage): readonly string[] {
  return rawPath(url)
    .slice(SESSIONS_ROOT.length + 1)
    .split("/");
}

async function handleSessions(
  context: SessionContext,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  const { sessions } = context;
  const sees = seenBy(pass);
  const [id = "", part = "", ...more] = segmentsIn(request);
  const isPosted = takesPost(request);
  if (part !== "notes") refuseWriting(request, isPosted ? "GET, HEAD, POST, OPTIONS" : undefined);
  if (id === "" && part === "") {
    const page = await sessions.reads.run(() => listPage(sessions, request.url ?? "/", sees));
    return answerJsonText(response, JSON.stringify(page), sessions.room);
  }
  const handler = Object.hasOwn(SESSION_PARTS, part) ? SESSION_PARTS[part] : undefined;
  if (more.length > 0 || handler === undefined) throw sessionNotFound();
  const call = { context, request, response, pass };
  try {
    await handler({ ...call, served: await sessions.open(id, sees) });
  } catch (cause) {
    if (!isAbsence(cause)) throw cause;
    if (sees.project !== null) throw sessionNotFound(); // One that is gone is of no project.
    // It was removed or replaced, or it is pinned and its log is gone.
    sessions.roots.resolve(id, sees);
    if (!(await answerMissing(call, id, part))) throw sessionNotFound();
  }
}

/** For a session whose log is gone there are only its list item and its verdict. */
async function answerMissing(
  asked: Omit<SessionRequest, "served">,
  urlId: string,
  part: string,
): Promise<boolean> {
  const { context, request, response } = asked;
  const { sessions } = context;
  if (part === "whereabouts") {
    await answerWhereabouts(asked, urlId);
    return true;
  }
  if (part !== "" && part !== "verify") return false;
  const missing = (await sessions.missing()).find(({ store, row }) => {
    return urlIdOf(store, row.id) === urlId;
  });
  if (missing === undefined) return false;
  new Query(request.url ?? "/", []);
  const { store, row } = missing;
  const session = { id: row.id, logId: row.logPath };
  const facts = { row, isCurrent: true, cost: row.spend, verdict: MISSING_VERDICT };
  const ends = { end: 0, tornBytes: 0, unfinishedBytes: 0, resumeCommand: null, hooks: null };
  const answer =
    part === "verify"
      ? await sessions.verdicts.verify(store, session)
      : { ...sessionItem(sessions, store, facts, { isLive: false, isMissing: true }), ...ends };
  answerJsonText(response, JSON.stringify(answer), sessions.room);
  return true;
}

/** Throws SESSION_NOT_FOUND only for an id that names no store. */
async function answerWhereabouts(
  asked: Omit<SessionRequest, "served">,
  urlId: string,
): Promise<void> {
  const { context, request, response, pass } = asked;
  const { sessions } = context;
  new Query(request.url ?? "/", []);
  const { roots, host, room } = sessions;
  const sees = seenBy(pass);
  const { store, id } = roots.resolve(urlId, sees);
  const whereabouts = await whereaboutsOf(host, store, id, roots.stores().filter(sees));
  const isGone = whereabouts.store === null;
  const pinned = isGone ? await sessions.missing() : [];
  const answer: Whereabouts = {
    state: whereabouts.state,
    id: whereabouts.store && urlIdOf(whereabouts.store, id),
    program: programOf(store.dialect),
    deletedAt: whereabouts.deletedAt,
    isPinned: pinned.some((each) => urlIdOf(each.store, each.row.id) === urlId),
  };
  answerJsonText(response, JSON.stringify(answer), room);
}

async function answerSession(asked: SessionRequest): Promise<void> {
  const { context, served, request, response, pass } = asked;
  new Query(request.url ?? "/", []);
  const { sessions } = context;
  const item = await itemOf(sessions, served);
  const ends = await sessions.reads.run(() => sessions.ends(served));
  const resumeCommand = resumeCommandOf(served.store.dialect, served.session.id, item);
  const hooks = hooksOf(sessions, served, seenBy(pass));
  const answer = { ...item, ...ends, resumeCommand, hooks };
  answerJsonText(response, JSON.stringify(answer), sessions.room);
}

/** The record of a program's session that its hooks made, which lists leave out; null if none. */
function hooksOf({ roots }: SessionService, { store, session }: ServedSession, sees: Sees) {
  const name = programIdOf(store.dialect, session.id);
  if (!dialectNamed(store.dialect).program) return null;
  for (const other of roots.stores().filter(sees)) {
    const { hooksIdOf, logPath } = dialectNamed(other.dialect).naming;
    const id = hooksIdOf?.(store.dialect, name) ?? null;
    if (id !== null && lookAtLog(other.root, logPath(id).join("/"))) return urlIdOf(other, id);
  }
  return null;
}

/** A handler that computes JSON, with limited concurrency. */
function read(make: (asked: SessionRequest) => Promise<string>): Handler {
  return async (asked) => {
    const { reads, room } = asked.context.sessions;
    const text = await reads.run(() => make(asked));
    answerJsonText(asked.response, text, room);
  };
}

/** The threads of a session, as the API has them (sessions/outline/threads). */
async function threadsAnswer(
  service: SessionService,
  served: ServedSession,
  sees: Sees,
): Promise<SessionThreads> {
  const { calls, sessions, isComplete } = await known(service, served);
  const started = calls.map((call) => {
    const { start, callId, rows } = call;
    const own = { rows: rows.length, from: rows[0] ?? null, to: rows.at(-1) ?? null };
    const thread = sessions.get(call);
    const child = thread && seenProject(sees)?.(thread) !== false ? thread : undefined;
    const session = child === undefined ? null : urlIdOf(served.store, child.id);
    return { start, callId, session, title: child?.title ?? null, ...own };
  });
  return { started, parent: await parentOf(service, served, sees), isComplete };
}

async function known(service: SessionService, { store, session }: ServedSession) {
  const calls = await service.outlines.agentCalls(session);
  return threadsOf(await service.catalog(), calls, store, session.id);
}

/** The session that began this one, and the line with the call that did. */
async function parentOf(
  service: SessionService,
  served: ServedSession,
  sees: Sees,
): Promise<SessionThreads["parent"]> {
  const { store, session } = served;
  const { row } = await service.known(served);
  if (row.parent === null || row.parent === session.id) return null;
  try {
    const id = urlIdOf(store, row.parent);
    const { sessions } = await known(service, await service.open(id, sees));
    const call = [...sessions].find(([, child]) => child.id === session.id)?.[0];
    return { id, start: call?.start ?? null };
  } catch (cause) {
    if (isAbsence(cause)) return null; // Its log is gone.
    throw cause;
  }
}
