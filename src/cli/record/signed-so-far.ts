/** Signed so far: whether the session that `record` continues without `--sign` is a signed one. */

import { existsSync } from "node:fs";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Store } from "../../sessions/store/store.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { hasSidecar } from "../../trust/proof/envelopes.ts";
import { sidecarOf } from "../../trust/session-log.ts";

/** By its checkpoints, or its pinned head. Verifies nothing. */
export async function isSignedSoFar({ dialect, root }: Store, session: Session): Promise<boolean> {
  if (hasSidecar(dialect) && existsSync(sidecarOf(session.path))) return true;
  const { stateDirectory } = userPaths();
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning: () => {} });
  const { place } = await rootNames(nodeHost, { dialect, root });
  return (await heads.lookup({ place, id: session.id, log: null })).found !== null;
}
