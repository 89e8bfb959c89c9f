/**
 * Followers: the derived files of a log, for a session that came from elsewhere. The session is
 * whole without them: a failure is a warning, and `verbatim repair` makes them later.
 */

import type { Host } from "../../base/host.ts";
import { nodeSurroundings } from "../../base/node-surroundings.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { examineOne } from "../../doctor/examine.ts";
import { mendSession } from "../../doctor/mend.ts";
import type { Finding } from "../../findings/finding.ts";
import type { FoundSession } from "../../listing/find-session.ts";

export async function makeFollowers(
  host: Host,
  found: FoundSession & { readonly id: string },
  onWarning: (warning: string) => void,
): Promise<void> {
  const doctor = { host, surroundings: nodeSurroundings, nowMs: Date.now };
  try {
    const missing: Finding[] = [];
    for await (const step of examineOne(doctor, found)) {
      if ("finding" in step && step.finding.mends) missing.push(step.finding);
    }
    for await (const _ of mendSession(doctor, found, missing));
    const files = await dialectNamed(found.dialect).files?.();
    await files?.installed?.(host, found, onWarning);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    onWarning(
      `the derived files of ${found.id} could not be written; run \`verbatim repair\`: ${why}`,
    );
  }
}
