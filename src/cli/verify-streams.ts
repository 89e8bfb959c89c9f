/** Verify streams: data directories of streams, and streams in them, as people name them. */

import { type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { VerifyReport } from "../signing/report.ts";
import type { VerifyOptions } from "../signing/verify-options.ts";
import type { UserJudging } from "../store/user-judging.ts";
import type { StreamJudging } from "../streams/verify-directory.ts";
import type { Run } from "./command.ts";

/** Whether a server keeps its streams there. */
export function isDataDirectory(name: string): boolean {
  const path = resolve(name);
  const isOurs = ["journal", "logs"].some((each) => statOf(join(path, each))?.isDirectory());
  return isOurs && (statOf(join(path, "meta.jsonl"))?.isFile() ?? false);
}

/**
 * Those of the names that mean data directories. One that is gone, as a whole or but for what else
 * lies in it, is one all the same while heads of its streams are pinned.
 */
export async function dataDirectoriesAmong(
  names: readonly string[],
  judging: StreamJudging,
): Promise<string[]> {
  const { nodeHost } = await import("../base/node-host.ts");
  const { placeThatWas } = await import("../signing/heads.ts");
  const directories: string[] = [];
  for (const name of names) {
    const place = await placeThatWas(nodeHost, { dialect: "streams", root: name });
    if (isDataDirectory(name) || judging.pinnedIn(place).length > 0) directories.push(name);
  }
  return directories;
}

/** Null for what is not there, and for what can be no path at all. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** The path of the stream that a person means. */
export function streamNamed(name: string): string {
  return name.startsWith("/") ? name : `/${name}`;
}

/** The report on each stream in them, and in which. */
export async function* verifyStreams(
  names: readonly string[],
  judging: StreamJudging,
  run: Run,
): AsyncGenerator<{ readonly report: VerifyReport; readonly root: string }> {
  if (names.length === 0) return;
  if (run.options.pin === true) {
    run.io.err("--pin has no effect on streams: their server pins their heads");
  }
  const { nodeHost } = await import("../base/node-host.ts");
  const { verifyDataDirectory } = await import("../streams/verify-directory.ts");
  for (const root of names) {
    for await (const report of verifyDataDirectory(nodeHost, resolve(root), judging)) {
      yield { report, root };
    }
  }
}

/** The user's own trust and pins, as the options say to use them. */
export async function streamJudging(run: Run): Promise<StreamJudging> {
  const { nodeHost } = await import("../base/node-host.ts");
  const { UserJudging } = await import("../store/user-judging.ts");
  const onWarning = (warning: string) => run.io.err(`warning: ${warning}`);
  return streamJudgingBy(await UserJudging.load(nodeHost, { onWarning }), run);
}

/** The same, by what is loaded already. */
export async function streamJudgingBy(
  judging: UserJudging,
  { options }: Run,
): Promise<StreamJudging> {
  const { nodeCrypto } = await import("../signing/node-crypto.ts");
  const { transcriptKeys } = await import("../signing/trusted-keys.ts");
  const flags = { isDeep: options.deep === true, requiresPin: options.requirePin === true };
  return {
    optionsFor: ({ root, id }): VerifyOptions => {
      const remembered = judging.remembered({ place: `streams:${root}`, id });
      return { crypto: nodeCrypto, keys: transcriptKeys(judging.trust, id), remembered, ...flags };
    },
    pinnedIn: (place) => {
      const pins = judging.book.found.current().map(({ pin }) => pin);
      return pins.filter((pin) => pin.place === place).map(({ id }) => id);
    },
  };
}
