/** `verbatim restore`: takes a session out of the trash, or writes a guarded one back. */

import { resolve } from "node:path";
import type { Loss } from "../../dialects/files/guard-store.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";

export async function runRestore({ args, options, io }: Run): Promise<number> {
  const { generation, version } = generationOf(options.generation);
  const to = textOption("--to", options.to);
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { placesOf } = await import("./rm.ts");
  const { restoreRemoved } = await import("../../history/removals.ts");
  const name = args[0] ?? "";
  const removed = await restoreRemoved(placesOf(options, io), name, {});
  if (removed !== null) {
    if (options.json === true) io.out(JSON.stringify(removed));
    else io.out(`restored ${removed.path}, ${removed.bytes} bytes`);
    return 0;
  }
  const { findGuardedSession } = await import("../../guard/guarded-sessions.ts");
  const { restore: restoreKept } = await import("../../guard/restore.ts");
  const exportTo = to === undefined ? process.cwd() : resolve(to);
  const session = await findGuardedSession(name);
  const restored = await restoreKept(nodeHost, session, {
    generation,
    version,
    exportTo,
    force: options.force === true,
    to: to === undefined ? undefined : resolve(to),
  });
  if (options.json === true) {
    io.out(JSON.stringify(restored));
    return 0;
  }
  const { path, bytes, isSame, keptAs, isExport } = restored;
  io.out(isSame ? `${path} is there already, unchanged` : `wrote ${path}, ${bytes} bytes`);
  const earlier = session.kept.losses.filter((each) => each.generation < restored.generation);
  if (isSame && earlier.length > 0) io.err(earlierText(earlier));
  if (keptAs !== null) io.out(`the file that was there is now ${keptAs}`);
  if (isExport) {
    io.err("its agent keeps sessions in a database: this is an export, which it does not read");
  }
  return 0;
}

/** What the guard kept before the agent rewrote the session. */
function earlierText(losses: readonly Loss[]): string {
  const lossTexts = losses.map(({ generation, lost }) => {
    return lost === null ? `${generation}` : `${generation} (lines lost after it: ${lost})`;
  });
  const newest = losses.at(-1)?.generation;
  return `earlier generations: ${lossTexts.join(", ")}; --generation ${newest} --force writes one back`;
}

/** `2`, or `2.14` for a version. */
export function generationOf(value: unknown): { generation?: number; version?: number } {
  if (value === undefined) return {};
  const [, generation, version] = /^([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?$/.exec(String(value)) ?? [];
  if (generation === undefined) {
    throw new UsageError(`--generation takes a number from 1 on, not ${String(value)}`);
  }
  return { generation: Number(generation), ...(version ? { version: Number(version) } : {}) };
}
