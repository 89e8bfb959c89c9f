/** Verify streams: verifies data directories, databases and the streams in them, by the user's names. */

import { resolve } from "node:path";
import type { UserTrust } from "../../evidence/verify/data-directories.ts";
import type { StreamJudging } from "../../evidence/verify/judge-streams.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { Run } from "../command/command.ts";

/** The path of the named stream. */
export function streamPath(name: string): string {
  return name.startsWith("/") ? name : `/${name}`;
}

/**
 * The report on each stream, and its data directory. `only`: paths of streams in databases.
 * `onEmpty` is called for each stream without a message, which has no report.
 */
export async function* verifyStreams(
  names: readonly string[],
  judging: StreamJudging,
  run: Run,
  only: readonly string[],
  onEmpty: () => void,
): AsyncGenerator<{ readonly report: VerifyReport; readonly root: string }> {
  if (names.length === 0) return;
  if (run.options.pin === true) {
    run.io.err("--pin has no effect on streams: their server pins their heads");
  }
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { verifyDataDirectory } = await import("../../evidence/verify/verify-directory.ts");
  const { isDatabase } = await import("../serve/copy-places.ts");
  const { verifyDatabase } = await import("./verify-database.ts");
  for (const root of names) {
    const reports = isDatabase(root)
      ? verifyDatabase(root, judging, only, onEmpty)
      : verifyDataDirectory(nodeHost, resolve(root), judging, onEmpty);
    for await (const report of reports) yield { report, root };
  }
}

/** Loads the user's trust and pins, as the options ask. */
export async function streamJudging(run: Run): Promise<StreamJudging> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { UserJudging } = await import("../../evidence/verify/user-judging.ts");
  const onWarning = (warning: string) => run.io.err(`warning: ${warning}`);
  return streamJudgingOf(await UserJudging.load(nodeHost, { onWarning }), run);
}

/** The same, from loaded trust. */
export async function streamJudgingOf(user: UserTrust, { options }: Run): Promise<StreamJudging> {
  const { streamJudgingBy } = await import("../../evidence/verify/data-directories.ts");
  const flags = { isDeep: options.deep === true, requirePin: options.requirePin === true };
  return streamJudgingBy(user, flags);
}
