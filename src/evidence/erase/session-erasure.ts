/**
 * Session erasure: what erasing a session of this user needs: their key, trust, pins, and store; and
 * removes what the user's indexes keep of it, so that no byte of it stays in them: not in free pages
 * of a database, not in its write-ahead log, not in full-text segments.
 *
 * All of these can be made again from the logs, so a database that cannot be cleaned is deleted. The
 * usage ledger keeps counts, models and directories of our sessions, and no text.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import {
  catalogPath,
  keptListingPath,
  leafIndexDirectory,
  searchPathNextTo,
  type UserPaths,
  userPaths,
} from "../../core/base/node-paths.ts";
import type { Cache } from "../../core/sqlite/sqlite.ts";
import { dialectNamed, hostOf } from "../../dialects/all.ts";
import { Catalog, realRoot } from "../../sessions/catalog/catalog.ts";
import { removeRows } from "../../sessions/catalog/table.ts";
import { SearchIndex } from "../../sessions/search/search-index.ts";
import { Store } from "../../sessions/store/store.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { Due } from "../../trust/signer/dues.ts";
import { Trust } from "../../trust/trusted-keys/trust.ts";
import { removeIndex } from "../prove/leaf-index.ts";
import { UserJudging } from "../verify/user-judging.ts";
import type { CarryingOut } from "./carry-out.ts";
import type { Erasing } from "./erase.ts";
import { cannotErase } from "./erased-line.ts";
import type { ErasableLog } from "./intent.ts";

export interface UserOptions {
  readonly places?: UserPaths;
  readonly onWarning: (warning: string) => void;
}

/** Refuses with CANNOT_ERASE a log that is not a session of ours. */
export function refuseOthers(target: SessionLog): ErasableLog {
  const { dialect, root, logId, id } = target;
  const path = join(root, logId);
  if (dialect === STREAMS) {
    const next = "write a disclosed copy with `redact -o`, then delete the stream";
    throw cannotErase(path, "it is a stream, whose offsets its readers keep", next);
  }
  const { writing, program } = dialectNamed(dialect);
  if (!writing || program) {
    const whose = program?.label ?? "another program";
    throw cannotErase(path, `it is ${whose}'s own, which is only read`, "delete it there");
  }
  if (id !== null) return { ...target, id };
  throw cannotErase(path, "it is in no store", "name a session by its id");
}

/** For finishing an erasure that was interrupted. */
export function carryingOut(host: Host, target: ErasableLog, options: UserOptions): CarryingOut {
  const { places = userPaths(), onWarning } = options;
  // Pins are read again for each verdict: they change meanwhile.
  const judging = () => UserJudging.load(host, options);
  return {
    host: hostOf(host, target),
    target,
    heads: new Heads({ host, stateDirectory: places.stateDirectory, onWarning }),
    verify: async () => (await judging()).optionsFor(target),
    names: () => rootNames(host, target),
    clean: () => cleanCaches(target),
  };
}

export async function sessionErasing(
  host: Host,
  target: ErasableLog,
  asked: UserOptions & Pick<Erasing, "finder" | "reason">,
): Promise<Erasing> {
  const { places = userPaths(), finder, reason, onWarning } = asked;
  return {
    ...carryingOut(host, target, asked),
    finder,
    reason,
    onWarning,
    nowMs: Date.now,
    newId: randomUUID,
    salt: randomBytes(32),
    signer: await loadSigner(host, places),
    trust: () => Trust.load(places),
    link: (log) => linkTo(host, target, log, onWarning),
  };
}

/** Ends the log with a signed link; what was found unsigned is stated before it. */
async function linkTo(
  host: Host,
  { dialect, root, logId, id }: ErasableLog,
  log: string,
  onWarning: (warning: string) => void,
): Promise<void> {
  const path = join(root, logId);
  const store = new Store(host, { dialect, root, sign: true, onWarning });
  try {
    await store.has(id); // Moves waiting lines into their sessions.
    const waiting = dialectNamed(dialect).files?.inbox?.waiting(root).get(id) ?? 0;
    if (waiting > 0) throw cannotErase(path, `${waiting} recorded lines wait for it`, "try again");
    const session = store.session(id);
    try {
      await session.addCheckpoints(async (signer): Promise<readonly Due[]> => {
        if (!signer.isOurs) throw cannotErase(path, "it is not signed by your own key", OWN);
        return [...(signer.mustState ? ["recovery" as const] : []), { linkTo: { id, log } }];
      });
    } finally {
      await session.release(); // Not closed: the session may continue.
    }
  } finally {
    await store.close();
  }
}

const OWN = "ask its signer, or write a disclosed copy and delete it";

/** Files next to the catalog that are made again when they are needed. */
const KEPT_FILES = ["scans.json", "scans-own.json"];
const REMOVED_AT_ONCE = 10_000;

async function cleanCaches(target: ErasableLog): Promise<void> {
  const path = catalogPath();
  const place = { dialect: target.dialect, root: realRoot(target.root) };
  const { id } = target;
  rmSync(keptListingPath(), { force: true });
  for (const name of KEPT_FILES) rmSync(join(dirname(path), name), { force: true });
  await removeIndex(leafIndexDirectory(), target);
  await cleaned(path, async () => {
    const catalog = await Catalog.open(path);
    try {
      return await catalog.attempt((cache) => {
        removeRows(cache, place, [id]);
        return isScrubbed(cache);
      }, false);
    } finally {
      catalog.close();
    }
  });
  await cleaned(searchPathNextTo(path), async () => {
    const index = await SearchIndex.open(searchPathNextTo(path));
    try {
      while (!(await index.remove(place, id, REMOVED_AT_ONCE)));
      return await index.attempt((cache) => {
        // Deleted words stay in their segments until all of these are merged.
        cache.run("INSERT INTO words (words) VALUES ('optimize')");
        return isScrubbed(cache);
      });
    } finally {
      index.close();
    }
  });
}

/** Cleans a database, or deletes it. */
async function cleaned(path: string, clean: () => Promise<boolean>): Promise<void> {
  if (!existsSync(path)) return;
  const isClean = await clean().catch(() => false);
  if (isClean) return;
  for (const ending of ["-wal", "-shm", ""]) rmSync(path + ending, { force: true });
}

/** Writes the whole database again, without its free pages. */
function isScrubbed(cache: Cache): boolean {
  cache.run("VACUUM");
  const [busy] = cache.row("PRAGMA wal_checkpoint(TRUNCATE)");
  return busy === 0;
}
