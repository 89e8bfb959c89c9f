/** `verbatim rm`: removes sessions by name or by rules, lists the trash, holds and releases. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { Places } from "../../history/places.ts";
import type { RemovedSession } from "../../history/removal-batch.ts";
import {
  holdSession,
  releaseSession,
  removedSessions,
  removeSessions,
} from "../../history/removals.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { safeLine } from "../../sessions/render/text.ts";
import type { SessionSummary } from "../../sessions/store/store-api.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { chosenSessions } from "../look/chosen-sessions.ts";
import { countText } from "../serve/findings-report.ts";

const EXIT_REFUSED = 7;
const RULES = ["olderThan", "largerThan", "agent", "project", "tag"] as const;
const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };

export async function runRm(run: Run): Promise<number> {
  const { args, options, io } = run;
  const isByRule = RULES.some((name) => options[name] !== undefined);
  const actions = ["list", "hold", "release"].filter((name) => options[name] === true);
  if (actions.length > 1) throw new UsageError("choose --list, --hold or --release");
  const places = placesOf(options, io);
  if (options.list === true) return listTrash(run, places);
  if (args.includes("")) throw new UsageError("name a session: the name given is empty");
  if (args.length > 0 === isByRule) {
    throw new UsageError("name sessions, or choose them by a rule such as --older-than 180d");
  }
  if (actions.length > 0 && isByRule)
    throw new UsageError(`--${actions[0]} takes names of sessions`);
  if (options.hold === true || options.release === true) return changeHolds(run, places);
  const chosen = isByRule ? await sessionsByRule(run) : null;
  if (chosen?.length === 0) return 0;
  const names = chosen?.map(({ path }) => path) ?? args;
  return removeAll(run, places, names, chosen);
}

export function placesOf(options: Run["options"], io: Io): Places {
  const { cwd, root, dialect } = whereOf(options);
  return new Places(nodeHost, {
    cwd,
    ...(root !== undefined && { roots: [root] }),
    ...(dialect !== undefined && { agents: [dialect] }),
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
}

async function listTrash({ options, io }: Run, places: Places): Promise<number> {
  let count = 0;
  for await (const removed of removedSessions(places)) {
    count++;
    if (options.json === true) await io.print(jsonLine(removed));
    else io.out(safeLine(`${removed.session}  ${whatItIs(removed)}`));
  }
  if (count === 0) io.err("the trash is empty");
  return 0;
}

function whatItIs({ at, until, bytes, by, reason, root }: RemovedSession): string {
  const why = reason === "" ? "" : `: ${reason}`;
  return `removed ${dayOf(at)} by ${by}${why}; ${bytes} bytes of ${root}, until ${dayOf(until ?? at)}`;
}

async function changeHolds({ args, options, io }: Run, places: Places): Promise<number> {
  const isHold = options.hold === true;
  const reason = textOption("--reason", options.reason);
  if (isHold && reason === undefined) throw new UsageError("--hold needs a --reason");
  for (const name of args) {
    if (isHold) await holdSession(places, name, reason ?? "");
    const wasHeld = isHold || (await releaseSession(places, name));
    const done = isHold ? "held: nothing removes it" : "released";
    io.out(`${name} is ${wasHeld ? done : "not held"}`);
  }
  return 0;
}

/** The sessions that the rules mean, the last updated first. */
async function sessionsByRule(run: Run): Promise<SessionSummary[]> {
  const { options } = run;
  const until = textOption("--older-than", options.olderThan);
  if (until !== undefined && !/^\d{1,6}[dhm]$/.test(until)) {
    throw new UsageError(`--older-than takes an age such as 180d or 12h, not ${until}`);
  }
  const least = bytesOf(textOption("--larger-than", options.largerThan));
  const sessions = await chosenSessions({ ...run, options: { ...options, until } }, true);
  return sessions.filter(({ size }) => size > least);
}

function bytesOf(text: string | undefined): number {
  if (text === undefined) return -1;
  const [, count, unit = "B"] = /^(\d{1,12})(B|KB|MB|GB)?$/i.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNITS[unit.toUpperCase()] ?? 1);
  throw new UsageError(`--larger-than takes a size such as 500KB or 100MB, not ${text}`);
}

async function removeAll(
  run: Run,
  places: Places,
  names: readonly string[],
  chosen: readonly SessionSummary[] | null,
): Promise<number> {
  const { options, io } = run;
  const isPurge = options.purge === true;
  const isDry = options.dryRun === true;
  const where = isPurge ? "for good" : "to the trash";
  const question = `Remove ${countText(names.length, "session")} ${where}?`;
  const mustAsk = !isDry && (isPurge || chosen !== null);
  if (mustAsk && !(await isAgreed(run, question))) return EXIT_DECLINED;
  const counts = { removed: 0, bytes: 0, refused: 0, agents: 0 };
  const how = {
    purge: isPurge,
    reason: textOption("--reason", options.reason) ?? "",
    revokeShares: options.revokeShares === true,
    leaveForks: options.leaveForks === true,
    dryRun: isDry,
  };
  await removeSessions(places, chosen ? childrenFirst(chosen) : names, how, {
    onRemoved: async (removed) => {
      counts.removed++;
      counts.bytes += removed.bytes;
      if (options.json === true) await io.print(jsonLine({ ...removed, dryRun: isDry }));
      else io.out(safeLine(resultText(removed, isDry)));
    },
    onRefused: (cause) => {
      if (!(cause instanceof VerbatimError) || chosen === null) throw cause;
      const isAgents = "obstacle" in cause.details && cause.details.obstacle === "not ours";
      if (isAgents) counts.agents++;
      else counts.refused++;
      if (!isAgents) io.err(`${cause.message} (${cause.code})`);
    },
  });
  if (chosen !== null) io.err(summaryText(counts, `${isDry ? "would be " : ""}removed ${where}`));
  return counts.refused > 0 && !isDry ? EXIT_REFUSED : 0;
}

/** A session from which another began is refused while that one is there. */
function childrenFirst(sessions: readonly SessionSummary[]): FoundSession[] {
  const isChild = ({ parent }: SessionSummary) => parent !== null;
  const ordered = [...sessions.filter(isChild), ...sessions.filter((each) => !isChild(each))];
  return ordered.map(({ dialect, root, id, path }) => ({ dialect, root, id, path }));
}

interface Counts {
  readonly removed: number;
  readonly bytes: number;
  readonly refused: number;
  /** Sessions that only their agents have: no rule means them. */
  readonly agents: number;
}

function summaryText({ removed, bytes, refused, agents }: Counts, done: string): string {
  const left = refused === 0 ? "" : `; ${refused} refused`;
  const agentsText = agents === 0 ? "" : `; ${agents} left, which only their agents have`;
  return `${countText(removed, "session")} ${done}, ${bytes} bytes${left}${agentsText}`;
}

function resultText(removed: RemovedSession, isDry: boolean): string {
  const { session, until, hasTombstone, revokedShares, isGuardCopy } = removed;
  const what = isGuardCopy ? `the guard's copy of ${session}` : session;
  if (isDry) return `${what} would be removed${agentText(removed)}`;
  const shares = countText(revokedShares.length, "share");
  const revoked = revokedShares.length === 0 ? "" : `; ${shares} revoked`;
  const tombstone =
    hasTombstone && !isGuardCopy ? "; `verbatim verify` says that it was deleted" : "";
  const more = `${revoked}${tombstone}${agentText(removed)}`;
  if (until === null) return `${what} is removed for good${more}`;
  const back = `\`verbatim restore ${nameOf(removed)}\` brings it back until ${dayOf(until)}`;
  return `${what} is in the trash; ${back}${more}`;
}

/** The id of an agent's session may begin as an option does. */
function nameOf({ session, isGuardCopy }: RemovedSession): string {
  return isGuardCopy ? session.slice(session.lastIndexOf("/") + 1) : session;
}

/** Where the agent's own file is, which no removal touches. */
function agentText(removed: RemovedSession): string {
  const { until, isGuardCopy, agentFile } = removed;
  if (!isGuardCopy) return "";
  if (agentFile === null) return "; its agent's own file is gone";
  const again = until === null ? `verbatim rm --release ${nameOf(removed)}` : "verbatim restore";
  const stays = `its agent's own file stays, with its text in \`ls\` and \`search\`: ${agentFile}`;
  return `; ${stays}; it is not copied again until \`${again}\``;
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}
