/** Guard: copies of other programs' sessions, and writing them back. */

import { resolve } from "node:path";
import { badOption } from "../core/base/choice.ts";
import { programOf } from "../dialects/registry.ts";
import { Guard } from "../guard/guard.ts";
import { findGuardedSession } from "../guard/guarded-sessions.ts";
import { type RestoredFile, restore } from "../guard/restore.ts";
import type { GuardPass } from "../guard/root-guard.ts";
import { GuardSigning } from "../guard/signatures.ts";
import type { GuardOptions, RestoreOptions } from "./options.ts";
import { dialectsOf, type Places } from "./places.ts";

/** With `follow`, ends with the signal; the result is then of the first look. */
export async function guardSessions(
  { host, onWarning }: Places,
  { agent, sign = false, follow = false, signal, onEvent }: GuardOptions,
): Promise<GuardPass> {
  signal?.throwIfAborted();
  const signing = sign ? new GuardSigning(host, Date.now, onWarning) : null;
  const guard = new Guard({
    host,
    agent: agent === undefined ? undefined : programNamed(agent),
    signing,
    onWarning,
    ...(onEvent && { onEvent }),
  });
  try {
    const pass = await guard.once();
    if (follow && signal) await guard.follow(signal);
    else await guard.compressCold();
    return pass;
  } finally {
    await guard.close();
  }
}

function programNamed(agent: string): string {
  const program = dialectsOf(agent).find((name) => programOf(name) !== null);
  if (program !== undefined) return program;
  throw badOption("agent", "names no program that keeps sessions of its own");
}

export async function restoreSession(
  { host, cwd }: Places,
  name: string,
  { to, generation, version, force = false, signal }: RestoreOptions,
): Promise<RestoredFile> {
  const session = await findGuardedSession(name);
  signal?.throwIfAborted();
  const directory = to === undefined ? undefined : resolve(cwd, to);
  const exportTo = directory ?? cwd;
  return restore(host, session, { to: directory, exportTo, generation, version, force });
}
