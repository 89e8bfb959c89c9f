/** Verify: the report on one session, by the trust and the pins of the user who runs the server. */

import type { VerifyReport } from "../../signing/report.ts";
import { SessionVerifier } from "../../store/session-verifier.ts";
import type { ServedSession, SessionService } from "./service.ts";

/** Trust and pins are read anew for each report: both may change while a server runs. */
export async function verifySession(
  { host }: SessionService,
  { store, session }: ServedSession,
): Promise<VerifyReport> {
  const { dialect, root } = store;
  const { id, logId } = session;
  const where = { cwd: root, root, dialect };
  const verifier = await SessionVerifier.open(host, { where, onWarning: () => {} });
  try {
    return await verifier.verify({ dialect, root, id, logId });
  } finally {
    await verifier.close();
  }
}
