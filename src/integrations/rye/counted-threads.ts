/**
 * Counted threads: which of a rye project's threads count in `ThreadTelemetry`.
 *
 * The cost of a signed thread is used only if its thread.json verifies. An excluded thread is
 * listed with the reason.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { findThreadMetas } from "../../dialects/rye/files/threads.ts";
import type { ExcludedThread } from "../../dialects/rye/telemetry.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { isSignedThread, readVerifiedMeta } from "./thread-meta.ts";

export interface CountedThread {
  /** Parsed thread.json; undefined if there is no usable one. */
  readonly meta: unknown;
  /** Why it is excluded; null if it counts. */
  readonly excluded: ExcludedThread | null;
}

/** Every thread of a project, in no order. Throws if the user's own trust file is invalid. */
export async function* countedThreads(
  host: Host,
  root: string,
  onProgress: (found: number) => void = () => {},
): AsyncGenerator<CountedThread> {
  let judging: UserJudging | null = null;
  for await (const { below: id, meta } of findThreadMetas(root, onProgress)) {
    judging ??= await UserJudging.load(host, { onWarning: () => {} });
    if (meta === undefined || !(await isSignedThread(host, judging, root, { id, meta }))) {
      yield { meta, excluded: null };
      continue;
    }
    try {
      yield { meta: await readVerifiedMeta(host, root, id, judging), excluded: null };
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
      const { verdict } = cause.details as VerbatimError<"NOT_VERIFIED">["details"];
      yield { meta: undefined, excluded: { thread_id: id, verdict, why: cause.message } };
    }
  }
}
