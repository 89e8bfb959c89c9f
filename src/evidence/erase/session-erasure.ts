/**
 * Session erasure: what erasing a session of this user needs: their key, trust, pins, and store.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { type UserPaths, userPaths } from "../../core/base/node-paths.ts";
import { dialectNamed, hostOf } from "../../dialects/all.ts";
import { Store } from "../../sessions/store/store.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { Due } from "../../trust/signer/dues.ts";
import { Trust } from "../../trust/trusted-keys/trust.ts";
import { UserJudging } from "../verify/user-judging.ts";
import type { CarryingOut } from "./carry-out.ts";
import { cleanCaches } from "./clean-caches.ts";
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
    clean: () => cleanCaches([target]),
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
