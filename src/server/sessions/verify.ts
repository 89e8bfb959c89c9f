/**
 * Verify: the report on one session, with the trust and the pins of the user who runs the server.
 */

import type { VerifyReport } from "../../signing/judging/report.ts";
import { SessionVerifier } from "../../verifying/session-verifier.ts";
import type { ServedSession, SessionService } from "./service.ts";

/** A session by its location: its log may be gone. */
interface Judged {
  readonly store: ServedSession["store"];
  readonly session: Pick<ServedSession["session"], "id" | "logId">;
}

/** Trust and pins are read for each report, because they can change while the server runs. */
export async function verifySession(
  { host }: SessionService,
  { store, session }: Judged,
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
