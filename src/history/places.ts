/** Places: where a history looks for sessions, and which one a name means. */

import { badOption } from "../core/base/choice.ts";
import { VerbatimError } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { READ_DIALECT_NAMES } from "../dialects/registry.ts";
import type { UserJudging } from "../evidence/verify/user-judging.ts";
import { type FoundStore, findStores, type StoreLookup } from "../sessions/list/find-stores.ts";
import type { FoundSession } from "../sessions/list/session-place.ts";
import { isDialectMeant, knownAgents } from "../sessions/list/whose.ts";
import type { SessionLog } from "../trust/session-log.ts";
import { dataDirectoriesAmong, warnOfJournals } from "./journal-warnings.ts";

export interface HistoryOptions {
  /**
   * Directories to look in: projects, data directories of servers with what these received, or the
   * directories in which agents keep sessions. Default:
   * those of all agents on this machine, and of the stores above `cwd`.
   */
  readonly roots?: readonly string[];
  /** Only sessions of these agents, as their users call them, or of these dialects. */
  readonly agents?: readonly string[];
  /** Default: the current directory. */
  readonly cwd?: string;
  /** Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

/** A log that may be signed, and the user's trusted keys and pinned heads. */
export interface SignedLog {
  readonly log: SessionLog;
  readonly judging: UserJudging;
}

export class Places {
  readonly host: Host;
  readonly cwd: string;
  /** At least one. */
  readonly lookups: readonly StoreLookup[];
  /** All sessions of the user are meant, wherever they are. */
  readonly isEverywhere: boolean;
  readonly onWarning: (warning: string) => void;

  constructor(host: Host, { roots, agents, cwd = process.cwd(), ...options }: HistoryOptions) {
    this.host = host;
    this.cwd = cwd;
    this.isEverywhere = roots === undefined && agents === undefined;
    this.onWarning = options.onWarning ?? processWarning;
    const dialects = agents?.flatMap(dialectsOf) ?? [undefined];
    this.lookups = (roots ?? [undefined]).flatMap((root) => {
      return dialects.map((dialect) => ({ cwd, root, dialect }));
    });
  }

  /** The stores with sessions, their dialects loaded; lines that hooks left are brought in first. */
  async stores(): Promise<FoundStore[]> {
    await this.#bringIn([]);
    const stores = await findStores(this.#reading());
    await this.#warnOf(stores);
    return stores;
  }

  /** The one session that a name means; refuses with SESSION_NOT_FOUND. */
  async find(name: string): Promise<FoundSession> {
    const { findSession } = await import("../sessions/list/find-session.ts");
    await this.#bringIn([name]);
    const found = await findSession(this.host, name, this.#reading());
    await this.#warnOf([found]);
    return found;
  }

  /** The signed file of the one session that a name means, and what judges it. It may be gone. */
  async findSigned(name: string): Promise<SignedLog> {
    const { SessionVerifier } = await import("../evidence/verify/session-verifier.ts");
    await this.#bringIn([name]);
    const { host, lookups: where, onWarning } = this;
    const verifier = await SessionVerifier.open(host, { where, onWarning });
    const [log, ...others] = await verifier.find([name]);
    if (log && others.length === 0) return { log, judging: verifier.judging };
    throw badName(name, `means ${others.length + 1} sessions; name one`);
  }

  /** Also what a server received: not for what writes there. */
  #reading(): StoreLookup[] {
    return this.lookups.map((lookup) => ({ ...lookup, hasReceived: true }));
  }

  async #warnOf(stores: readonly FoundStore[]): Promise<void> {
    await warnOfJournals(this.host, dataDirectoriesAmong(stores), this.onWarning);
  }

  async #bringIn(names: readonly string[]): Promise<void> {
    const { bringInHooks } = await import("../sessions/list/waiting-hooks.ts");
    for (const lookup of this.lookups) {
      await bringInHooks(this.host, lookup, names, this.onWarning);
    }
  }
}

/** The dialects that an agent's name means; refuses with BAD_SETTING. */
export function dialectsOf(agent: string): string[] {
  const dialects = READ_DIALECT_NAMES.filter((name) => isDialectMeant(name, agent));
  if (dialects.length > 0) return dialects;
  throw badOption("agents", `names an agent that is not known; known are ${knownAgents().join()}`);
}

/** A name of which no session is meant that the call can take. */
export function badName(session: string, reason: string): VerbatimError<"SESSION_NOT_FOUND"> {
  return new VerbatimError("SESSION_NOT_FOUND", `${session} ${reason}`, { session });
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
