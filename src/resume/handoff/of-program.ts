/**
 * Of program: a session of another program, recorded as a new session of our own layout, so that
 * it can be handed off.
 *
 * A bundle holds a verified log, and other programs sign nothing. So the new session is signed by
 * the user who hands it off, and begins with its origin: the program's session, and the hash of the
 * bytes that were read. It exists in a temporary directory, until the bundle is written. The
 * program's file is only read.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { DEFAULT_DIALECT } from "../../dialects/registry.ts";
import {
  type BadVerifiedLine,
  openVerifiedSession,
} from "../../evidence/verify/verified-entries.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import { type Fidelity, type Original, recordAnew } from "./transcode.ts";

/** Where the handed-off session comes from. */
export interface RecordedFrom {
  readonly session: string;
  readonly dialect: string;
  readonly fidelity: Fidelity;
}

/** Calls `use` with the new session, which is gone afterwards. Refuses with CHANGED_WHILE_READ. */
export async function withRecorded<T>(
  host: Host,
  found: FoundSession,
  use: (recorded: FoundSession, from: RecordedFrom) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), "verbatim-handoff-"));
  try {
    const dialect = DEFAULT_DIALECT;
    const options = { dialect, root, sign: true, isPassing: true, onWarning: () => {} } as const;
    const original = await originalAt(host, found);
    const { session, fidelity } = await recordAnew(host, original, options);
    const { session: id, dialect: from } = original.origin;
    const recorded = { dialect, root, id: session.id, path: session.path };
    return await use(recorded, { session: id, dialect: from, fidelity });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function originalAt(host: Host, { path, root, dialect, id }: FoundSession) {
  const asked = { root, dialect, allowUnsigned: true, restoresSpilled: true };
  /** Refuses other bytes than those of the first reading. */
  async function* read(onBadLine: (bad: BadVerifiedLine) => void, expected: string | null) {
    const session = await openVerifiedSession(host, path, { ...asked, onBadLine });
    try {
      yield* session.entries();
      const sha256 = session.hash();
      assert(sha256 !== null, `all of ${path} was read`);
      if (expected !== null && sha256 !== expected) throw changedWhileRead(path, session.end);
      return { sha256, bytes: session.end };
    } finally {
      session.close();
    }
  }
  const first = read(() => {}, null);
  let step = await first.next();
  while (!step.done) step = await first.next();
  const { sha256, bytes } = step.value;
  const original: Original = {
    origin: { session: id ?? path, dialect, head: null, bytes, sha256 },
    from: null,
    entries: (onBadLine) => read(onBadLine, sha256),
  };
  return original;
}
