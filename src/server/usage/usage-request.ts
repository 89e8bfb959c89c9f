/**
 * Usage request: which responses a request is about, and what of them the sender may see.
 *
 * Facts: the same choice of sessions and days, for the facts of the search index.
 */

import { posix } from "node:path";
import { SERIES_GROUPS } from "../../client/usage-shapes.ts";
import type { FactChoice, FactSession } from "../../sessions/search/indexed-facts.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { fileFilter } from "../../usage/report/agent-choice.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { Days, dayNumber, dayText } from "../../usage/report/days.ts";
import { badRequest } from "../http/answer.ts";
import type { Query } from "../sessions/query.ts";
import { type Sees, type ServedStore, urlIdOf } from "../sessions/roots.ts";
import { projectFilterIn, seenProject } from "../sessions/row-filter.ts";
import type { SessionService } from "../sessions/service.ts";
import type { UsageRequest } from "./usage-report.ts";

export const INSIGHTS_PARAMETERS = [
  "since",
  "until",
  "tz",
  "agent",
  "project",
  "machine",
  "user",
  "limit",
] as const;

export interface SeenUsage extends UsageRequest {
  /** The stores that the sender sees. */
  readonly stores: readonly ServedStore[];
  readonly storeOf: (file: LedgerFile) => ServedStore | undefined;
  /** Whether the sender sees a file, whatever was chosen. */
  readonly isSeen: (file: LedgerFile) => boolean;
  /** An agent, a project or a sender was chosen. */
  readonly isNamed: boolean;
}

export function usageRequest(service: SessionService, query: Query, sees: Sees): SeenUsage {
  const { limits, roots, nowMs } = service;
  const days = daysIn(query.text("tz"));
  const isProject = projectFilterIn(query, sees) ?? undefined;
  const isOwn = seenProject(sees);
  const [agent, machine, user] = ["agent", "machine", "user"].map((name) => query.text(name));
  const isNamed = fileFilter({ agent, isProject, machine, user });
  const range = { since: dayIn(query, "since"), until: dayIn(query, "until") };
  const keyOf = ({ dialect, root }: { dialect: string; root: string }) => `${dialect}\0${root}`;
  const seen = roots.stores().filter(sees);
  const stores = new Map(seen.map((store) => [keyOf(store), store]));
  const storeOf = (file: LedgerFile) => {
    return isOwn?.(file) === false ? undefined : stores.get(keyOf(file));
  };
  // The ledger also has files of stores that are gone: only who sees every path sees them.
  const isSeen = (file: LedgerFile) => {
    return isOwn?.(file) !== false && (sees({}) || stores.has(keyOf(file)));
  };
  const isWanted = (file: LedgerFile) => isSeen(file) && (isNamed?.(file) ?? true);
  return {
    days,
    today: days.numberOf(nowMs()),
    choice: { ...range, isWanted },
    by: query.choice("by", SERIES_GROUPS) ?? "agent",
    limit: query.number("limit", 1, limits.usageListedMax) ?? limits.usageListedDefault,
    groupsMax: limits.usageGroupsMax,
    linkTo: (file) => {
      const store = sees.isSumsOnly ? undefined : storeOf(file);
      return store === undefined ? null : urlIdOf(store, file.id);
    },
    stores: seen,
    storeOf,
    isSeen,
    isNamed: isNamed !== undefined,
  };
}

function dayIn(query: Query, name: string): string | undefined {
  const text = query.text(name);
  if (text === null) return undefined;
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(dayNumber(text))) return text;
  throw badRequest(name, "must be a day such as 2026-11-15");
}

function daysIn(zone: string | null): Days {
  try {
    return zone === null ? new Days() : new Days(zone);
  } catch {
    throw badRequest("tz", "must be a time zone such as Europe/Berlin");
  }
}

export interface Facts {
  readonly choice: FactChoice<ServedStore>;
  /** Without subagents: no person typed their prompts. */
  readonly typed: FactChoice<ServedStore>;
  /** A file as the whole path, where the session's directory is known. */
  readonly pathOf: (file: string, session: FactSession<ServedStore>) => string;
}

export function factsOf(
  { choice: { since, until, isWanted: isChosen }, stores, isNamed }: SeenUsage,
  usage: CountedUsage | undefined,
): Facts {
  const keyOf = (dialect: string, root: string, id: string) => `${dialect}\0${root}\0${id}`;
  const files = new Map<string, LedgerFile>();
  for (const file of usage?.ledger.files ?? []) {
    if (isChosen?.(file) !== false) files.set(keyOf(file.dialect, file.root, file.id), file);
  }
  const fileOf = (place: ServedStore, id: string) =>
    files.get(keyOf(place.dialect, place.root, id));
  const isWanted = (place: ServedStore, id: string) => !isNamed || fileOf(place, id) !== undefined;
  const end = until === undefined ? null : dayText(dayNumber(until) + 1);
  const choice = { places: stores, since: since ?? null, until: end, isWanted };
  return {
    choice,
    typed: {
      ...choice,
      isWanted: (place, id) => isWanted(place, id) && !fileOf(place, id)?.parent,
    },
    pathOf: (file, { place, id }) => {
      if (posix.isAbsolute(file)) return file;
      const directory = fileOf(place, id)?.directory ?? "";
      return posix.isAbsolute(directory) ? posix.join(directory, file) : file;
    },
  };
}
