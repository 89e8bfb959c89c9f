/**
 * Followers: the derived files of a log, for a session that came from elsewhere. The session is
 * whole without them: a failure is a warning, and `verbatim repair` makes them later.
 */

import { join } from "node:path";
import type { Host } from "../../base/host.ts";
import { nodeSurroundings } from "../../base/node-surroundings.ts";
import { Registrar } from "../../dialects/rye/files/registrar.ts";
import { readStoredMeta } from "../../dialects/rye/files/thread-files.ts";
import { THREADS_PATH } from "../../dialects/rye/thread-id.ts";
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
    if (found.dialect === "rye") await register(host, found, onWarning);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    onWarning(
      `the derived files of ${found.id} could not be written; run \`verbatim repair\`: ${why}`,
    );
  }
}

async function register(
  host: Host,
  { root, id }: { readonly root: string; readonly id: string },
  onWarning: (warning: string) => void,
): Promise<void> {
  const meta = await readStoredMeta(host, root, id);
  if (!meta) return;
  const registrar = new Registrar(root, join(root, ...THREADS_PATH), onWarning);
  registrar.note(meta);
  await registrar.close();
}
