/**
 * Counted threads: what is added up of a rye project's threads, and which are left out.
 *
 * CT1  What a signed thread cost is taken from a thread.json that verifies, or not at all. A thread
 *      that is left out is named, with the reason.
 */

import { VerbatimError } from "../../../base/errors.ts";
import type { Host } from "../../../base/host.ts";
import { UserJudging } from "../../../verifying/user-judging.ts";
import { findThreadMetas } from "../files/threads.ts";
import type { ExcludedThread } from "../telemetry.ts";
import { isSignedThread } from "./signed-thread.ts";
import { readVerifiedMeta } from "./verified-meta.ts";

export interface CountedThread {
  /** What thread.json parses to; undefined when there is none that can be used. */
  readonly meta: unknown;
  /** Why it does not count; null when it does. */
  readonly excluded: ExcludedThread | null;
}

/** Every thread of a project, in no order. Refuses with what is wrong with the user's own trust. */
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
