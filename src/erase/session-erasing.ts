/** Session erasing: what erasing a session of this user needs: their key, trust, pins, and store. */

import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../base/host.ts";
import { type UserPaths, userPaths } from "../base/node-paths.ts";
import { dialectNamed, hostOf } from "../dialects/all.ts";
import { STREAMS } from "../proof/envelopes.ts";
import { Heads } from "../signing/heads/heads.ts";
import { rootNames } from "../signing/heads/session-head.ts";
import { loadSigner } from "../signing/keys/keys.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { Trust } from "../signing/trust/trust.ts";
import type { Due } from "../signing/writing/dues.ts";
import { Store } from "../store/store.ts";
import { UserJudging } from "../verifying/user-judging.ts";
import type { CarryingOut } from "./carry-out.ts";
import { cleanCaches } from "./clean-caches.ts";
import type { Erasing } from "./erase.ts";
import { cannotErase } from "./erased-line.ts";
import type { StoredLog } from "./intent.ts";

export interface UserOptions {
  readonly places?: UserPaths;
  readonly onWarning: (warning: string) => void;
}

/** Refuses with CANNOT_ERASE a log that is not a session of ours. */
export function refuseOthers(target: SessionLog): StoredLog {
  const { dialect, root, logId, id } = target;
  const path = join(root, logId);
  if (dialect === STREAMS) {
    const next = "write a disclosed copy with `redact -o`, then delete the stream";
    throw cannotErase(path, "it is a stream, whose offsets its readers keep", next);
  }
  const { isReadOnly, program } = dialectNamed(dialect);
  if (isReadOnly || program) {
    const whose = program?.label ?? "another program";
    throw cannotErase(path, `it is ${whose}'s own, which is only read`, "delete it there");
  }
  if (id !== null) return { ...target, id };
  throw cannotErase(path, "it is in no store", "name a session by its id");
}

/** For finishing an erasure that was interrupted. */
export function carryingOut(host: Host, target: StoredLog, options: UserOptions): CarryingOut {
  const { places = userPaths(), onWarning } = options;
  // Pins are read again for each verdict: they change meanwhile.
  const judging = () => UserJudging.load(host, options);
  return {
    ...{ host: hostOf(host, target), target },
    heads: new Heads({ host, stateDirectory: places.stateDirectory, onWarning }),
    verify: async () => (await judging()).optionsFor(target),
    names: () => rootNames(host, target),
    clean: () => cleanCaches(target),
  };
}

export async function sessionErasing(
  host: Host,
  target: StoredLog,
  asked: UserOptions & Pick<Erasing, "finder" | "reason">,
): Promise<Erasing> {
  const { places = userPaths(), finder, reason, onWarning } = asked;
  return {
    ...carryingOut(host, target, asked),
    ...{ finder, reason, onWarning, nowMs: Date.now, newId: randomUUID, salt: randomBytes(32) },
    signer: await loadSigner(host, places),
    trust: () => Trust.load(places),
    link: (log) => linkTo(host, target, log, onWarning),
  };
}

/** Ends the log with a signed link; what was found unsigned is stated before it. */
async function linkTo(
  host: Host,
  { dialect, root, logId, id }: StoredLog,
  log: string,
  onWarning: (warning: string) => void,
): Promise<void> {
  const path = join(root, logId);
  const store = new Store(host, { dialect, root, sign: true, onWarning });
  try {
    await store.has(id); // Moves waiting lines into their sessions.
    const waiting = dialectNamed(dialect).inbox?.waiting(root).get(id) ?? 0;
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
