/** Signed so far: whether the session that `record` continues without `--sign` is a signed one. */

import { existsSync } from "node:fs";
import { nodeHost } from "../../base/node-host.ts";
import { userPaths } from "../../base/node-paths.ts";
import { hasSidecar } from "../../proof/envelopes.ts";
import { Heads } from "../../signing/heads/heads.ts";
import { rootNames } from "../../signing/heads/session-head.ts";
import { sidecarOf } from "../../signing/session-log.ts";
import type { Session } from "../../store/session.ts";
import type { Store } from "../../store/store.ts";

/** By its checkpoints, or its pinned head. Verifies nothing. */
export async function isSignedSoFar({ dialect, root }: Store, session: Session): Promise<boolean> {
  if (hasSidecar(dialect) && existsSync(sidecarOf(session.path))) return true;
  const { stateDirectory } = userPaths();
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning: () => {} });
  const { place } = await rootNames(nodeHost, { dialect, root });
  return (await heads.lookup({ place, id: session.id, log: null })).found !== null;
}
