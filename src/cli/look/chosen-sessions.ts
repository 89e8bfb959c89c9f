/**
 * Chosen sessions: which sessions the filters of a command mean (`verbatim help options`). A
 * subagent's session is meant only on request if the session that started it is listed.
 */

import { ChosenSessions, keyOf, type SessionFilter } from "../../history/chosen-sessions.ts";
import { type FoundStore, findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import { listPage } from "../../sessions/list/list-page.ts";
import { isAgentMeant, isKnownAgent, knownAgents, senderOf } from "../../sessions/list/whose.ts";
import { type SessionLine, summaryOf } from "../../sessions/store/list.ts";
import type { SessionSummary } from "../../sessions/store/store-api.ts";
import { type Io, type OptionValue, type Run, textOption, UsageError } from "../command/command.ts";
import { progressOn } from "../command/interruption.ts";
import { readingWhereOf } from "../command/options.ts";
import { timeOption } from "../command/time-option.ts";
import { NO_STORES, warnOfJournal } from "./store-notes.ts";

export interface SessionChoice extends SessionFilter {
  /** Subagents too. */
  readonly isAll: boolean;
  readonly cwd: string;
}

const FILTERS = [
  ...(["agent", "project", "since", "until", "model", "machine", "user"] as const),
  ...(["tag", "starred"] as const),
] as const;

export function hasFilter(options: Run["options"]): boolean {
  return FILTERS.some((name) => options[name] !== undefined);
}

/** What the filters of a command say. */
export function filterOf(options: Run["options"]): SessionFilter {
  const nowMs = Date.now();
  const time = (flag: string, value: OptionValue) => {
    const text = textOption(flag, value);
    return text === undefined ? undefined : timeOption(flag, text, nowMs);
  };
  return {
    agent: textOption("--agent", options.agent),
    project: textOption("--project", options.project),
    since: time("--since", options.since)?.from,
    until: time("--until", options.until)?.to,
    model: textOption("--model", options.model)?.toLowerCase(),
    machine: textOption("--machine", options.machine),
    user: textOption("--user", options.user),
    tag: textOption("--tag", options.tag),
    starred: options.starred === true ? true : undefined,
  };
}

/** The sessions that a command's filters mean, newest first; says why if there are none. */
export async function chosenSessions(
  { options, io }: Run,
  isAll = false,
): Promise<SessionSummary[]> {
  return listChosen({ ...filterOf(options), isAll }, readingWhereOf(options), io);
}

/** Those with the user's tag or star that the filters name. */
export async function notedSessions({ options, io }: Run): Promise<SessionSummary[]> {
  const { tag, starred } = filterOf(options);
  return listChosen({ tag, starred, isAll: true }, readingWhereOf(options), io);
}

/** Whether a session is one that the filters mean, by its place and id; null: all are. */
export type IsChosen = (place: FoundStore, id: string) => boolean;

/** For commands that read more than listings do; `hasTimes`: `--since` and `--until` count, too. */
export async function choiceOf({ options, io }: Run, hasTimes: boolean): Promise<IsChosen | null> {
  const { since, until, ...others } = filterOf(options);
  const times = hasTimes ? { since, until } : { since: undefined, until: undefined };
  const filter = { ...others, ...times };
  if (FILTERS.every((name) => filter[name] === undefined)) return null;
  const sessions = await listChosen({ ...filter, isAll: true }, readingWhereOf(options), io);
  const keys = new Set(sessions.map((session) => keyOf(session, session.id)));
  return (place, id) => keys.has(keyOf(place, id));
}

async function listChosen(
  choice: Omit<SessionChoice, "cwd">,
  where: StoreLookup,
  io: Io,
): Promise<SessionSummary[]> {
  const chosen = new ShownSessions({ ...choice, cwd: where.cwd });
  const all = await findStores(where);
  const stores = chosen.storesOf(all);
  await warnOfJournal(stores, io);
  const page = await listPage(stores, {
    limit: Number.POSITIVE_INFINITY,
    ...(chosen.isShown && { isShown: chosen.isShown }),
    onFound: (lines) => chosen.found(lines),
    onRecords: () => {},
    onProgress: progressOn(io),
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
  io.progress(null);
  const sessions = page?.sessions ?? [];
  if (sessions.length === 0)
    io.err(chosen.whyNone() ?? (all.length === 0 ? NO_STORES : "no sessions"));
  return sessions.map(summaryOf);
}

/** Nothing, if there is a store. */
export async function tellNoStores(where: StoreLookup, io: Io): Promise<void> {
  if ((await findStores(where)).length === 0) io.err(NO_STORES);
}

const NAMES_LISTED_MAX = 40;
/** Filters by one name of many. */
const NAMED = ["project", "tag", "machine", "user"] as const;

/** What the filters of a command mean, and why nothing is shown. */
export class ShownSessions {
  readonly #choice: SessionChoice;
  readonly #chosen: ChosenSessions;
  readonly #agents = new Set<string>();
  /** What there is to choose from, by the filter. */
  readonly #names = new Map(NAMED.map((filter) => [filter as string, new Set<string>()]));
  #isAgentKnown: boolean;
  hidden = 0;

  constructor(choice: SessionChoice) {
    this.#choice = choice;
    this.#chosen = new ChosenSessions(choice, choice.cwd);
    this.#isAgentKnown = choice.agent === undefined;
  }

  /** Null if every session is shown, so that none has to be looked at. */
  get isShown(): ((line: SessionLine) => boolean) | null {
    const { isAll } = this.#choice;
    if (isAll && FILTERS.every((name) => this.#choice[name] === undefined)) return null;
    return (line) => this.#isShown(line);
  }

  /** The stores that may have sessions of the agent. */
  storesOf(stores: readonly FoundStore[]): FoundStore[] {
    for (const { machine, user } of stores.flatMap(({ root }) => senderOf(root) ?? [])) {
      this.#names.get("machine")?.add(machine);
      this.#names.get("user")?.add(user);
    }
    return this.#chosen.storesOf(stores);
  }

  /** Call it with all sessions before any is shown. */
  found(lines: readonly SessionLine[]): void {
    if (this.isShown !== null) this.#chosen.found(lines);
  }

  /** Why nothing is shown; throws wrong usage if there is no such agent. */
  whyNone(): string | null {
    const { agent } = this.#choice;
    if (!this.#isAgentKnown && !isKnownAgent(agent ?? "")) {
      const names = [...[...this.#agents].sort(), ...knownAgents()].slice(0, NAMES_LISTED_MAX);
      throw new UsageError(`no agent is called ${agent}; known are ${names.join(", ")}`);
    }
    const [filter, ...others] = FILTERS.filter((name) => this.#choice[name] !== undefined);
    if (filter === undefined) return null;
    const names = this.#names.get(filter);
    if (filter === "agent" && others.length === 0) return `no sessions of ${agent}`;
    if (names === undefined || others.length > 0) return "no session fits the filters";
    const listed = [...names].sort().slice(0, NAMES_LISTED_MAX).join(", ");
    const meant = `no sessions of the ${filter} ${this.#choice[filter]}`;
    if (listed !== "") return `${meant}; sessions have these ${filter}s: ${listed}`;
    const isSender = filter === "machine" || filter === "user";
    return isSender ? `${meant}; --root names the data directory of a server` : meant;
  }

  #isShown(line: SessionLine): boolean {
    const { agent, isAll } = this.#choice;
    const session = summaryOf(line);
    if (session.agent !== null) this.#agents.add(session.agent);
    if (session.project !== null) this.#names.get("project")?.add(session.project);
    for (const tag of session.tags) this.#names.get("tag")?.add(tag);
    if (agent !== undefined && isAgentMeant(session, agent)) this.#isAgentKnown = true;
    if (!this.#chosen.has(session)) return false;
    if (isAll || !this.#chosen.isSubagents(session)) return true;
    this.hidden++;
    return false;
  }
}
