/** Tools: what each of them answers, except for reading (`read-tool.ts`): lists, searches, verdicts. */

import { relative } from "node:path";
import type { TypeOfSchema } from "../../client/schema.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { catalogPath, searchPathNextTo } from "../../core/base/node-paths.ts";
import { labelOf } from "../../dialects/registry.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import { listPage } from "../../sessions/list/list-page.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { freshenIndex, HURRIED } from "../../sessions/search/freshen-index.ts";
import { againIfDamaged, SearchIndex } from "../../sessions/search/search-index.ts";
import { type SearchHit, searchPage, understandQuery } from "../../sessions/search/search-page.ts";
import { listedMarks } from "../../sessions/search/session-marks.ts";
import { type SessionLine, summaryOf } from "../../sessions/store/list.ts";
import type { LIST_ARGUMENTS, SEARCH_ARGUMENTS } from "./arguments.ts";

/** What the tools work with. */
export interface McpParts {
  readonly host: Host;
  readonly where: StoreLookup;
  readonly nowMs: () => number;
  readonly onWarning: (warning: string) => void;
}

/** Sessions or results on a page. */
const LIMIT_DEFAULT = 20;

export async function listTool(
  { host, where, onWarning }: McpParts,
  { limit = LIMIT_DEFAULT, cursor, dialect, ...filter }: TypeOfSchema<typeof LIST_ARGUMENTS>,
  signal: AbortSignal,
): Promise<object> {
  const stores = await findStores({ ...where, dialect: dialect ?? where.dialect });
  const onRecords = () => {};
  const options = { host, filter, limit, cursor, signal, onRecords, onWarning };
  const page = await listPage(stores, options);
  if (page === null) throw badCursor();
  return { sessions: page.sessions.map(listedSession), next: page.next };
}

function listedSession(line: SessionLine): object {
  const { id, dialect, title, agent, model, status, turns, totalTokens, ...rest } = summaryOf(line);
  const { spend, createdAt, updatedAt, size: bytes, badLines } = rest;
  return {
    session: id,
    dialect,
    program: labelOf(dialect),
    title,
    agent,
    model,
    status,
    turns,
    totalTokens,
    spend,
    createdAt,
    updatedAt,
    bytes,
    badLines,
  };
}

/** Entries examined per result. */
const EXAMINED_MAX = 50_000;
/** Maximum wait for the index before answering with what it has. */
const FRESHEN_MS_MAX = 20_000;

/**
 * Entries of the sessions that have certain words, the latest first.
 *
 * The index is updated first, within a time limit: a store that was never searched may take longer,
 * and then the result says that it is not complete.
 */
export async function searchTool(
  parts: McpParts,
  { query: text, limit = LIMIT_DEFAULT, cursor }: TypeOfSchema<typeof SEARCH_ARGUMENTS>,
  signal: AbortSignal,
): Promise<object> {
  const { host, onWarning } = parts;
  const onFailure = (id: string) => onWarning(`${id} could not be read and searched`);
  const query = understandQuery(text, parts.nowMs());
  const after = cursor === undefined ? null : entryIn(cursor);
  const places = await findStores(parts.where);
  const options = { places, after, limit, examinedMax: EXAMINED_MAX };
  const index = await SearchIndex.open(searchPathNextTo(catalogPath()));
  try {
    return await againIfDamaged(async () => {
      const either = AbortSignal.any([signal, AbortSignal.timeout(FRESHEN_MS_MAX)]);
      const update = { pace: HURRIED, signal: either, onFailure, onWarning };
      // Later pages are of the same moment: only the first one updates the index.
      const isComplete = after !== null || (await freshenIndex(host, index, places, update));
      signal.throwIfAborted();
      const marks = await listedMarks(host, query, places, { signal, onWarning });
      const { hits, next } = await searchPage(host, index, query, { ...options, marks });
      return { hits: hits.map(searchHit), next: next === null ? null : String(next), isComplete };
    });
  } finally {
    index.close();
  }
}

/** Hits are between «guillemets». */
function searchHit({ id, place, start, end, role, at, tools, snippet, note }: SearchHit): object {
  const text = snippet.map((piece) => (piece.isHit ? `«${piece.text}»` : piece.text)).join("");
  const { dialect } = place;
  const isNote = note !== null;
  return { session: id, dialect, start, end, role, at, tools, isNote, snippet: text };
}

function entryIn(cursor: string): number {
  const entry = /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
  if (entry > 0) return entry;
  throw badCursor();
}

const FINDINGS_MAX = 20;

interface VerifyParts {
  readonly where: StoreLookup;
  readonly isDeep: boolean;
  readonly onWarning: (warning: string) => void;
  readonly signal: AbortSignal;
}

/** The verdict on one session, by the trust and the pins of the server's user. */
export async function verifyTool(
  host: Host,
  { dialect, root, id, path }: FoundSession,
  { signal, ...options }: VerifyParts,
): Promise<object> {
  const verifier = await SessionVerifier.open(host, { ...options, against: null });
  try {
    const target = { dialect, root, id, logId: relative(root, path) };
    const report = await verifier.verify(target, () => signal.throwIfAborted());
    signal.throwIfAborted(); // An aborted read would look like an unreadable log.
    const { verdict, deep, signed_through, checkpoints, tail, bad_range, freshness } = report;
    return {
      session: id,
      dialect,
      verdict,
      deep,
      bytes: report.file.bytes,
      signed_through,
      checkpoints,
      unsigned_tail: { bytes: tail.bytes, lines: tail.lines },
      bad_range,
      erasures: report.erasures.slice(0, FINDINGS_MAX),
      freshness,
      keys: report.keys.slice(0, FINDINGS_MAX),
      findings: report.findings.slice(0, FINDINGS_MAX),
      more_findings: Math.max(0, report.findings.length - FINDINGS_MAX),
    };
  } finally {
    await verifier.close();
  }
}

function badCursor(): VerbatimError {
  return new VerbatimError("BAD_REQUEST", "the cursor is not valid; pass `next` unchanged", {
    part: "cursor",
    reason: "not one of ours",
  });
}
