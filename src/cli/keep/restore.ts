/** `verbatim restore`: writes a guarded session back where its agent finds it. */

import { resolve } from "node:path";
import type { Loss } from "../../dialects/files/guard-store.ts";
import { type CliCommand, textOption, UsageError } from "../command/command.ts";

export const restore: CliCommand = {
  name: "restore",
  summary: "Write a guarded session back, byte for byte, where its agent finds it",
  args: [{ name: "<session>", summary: "an id of a guarded session, or the beginning of one" }],
  options: [
    { flags: "--to <dir>", summary: "write it below this directory, as below the agent's own" },
    { flags: "--generation <n>", summary: "an older generation; n.v: version v of a whole file" },
    { flags: "--force", summary: "rename a longer or different file that is there" },
    { flags: "--json", summary: "print what was written, as JSON" },
  ],
  examples: [
    "verbatim restore 6f1c2d3e",
    "verbatim restore 6f1c2d3e --generation 1 --force",
    "verbatim restore 6f1c2d3e --to /tmp/claude",
  ],

  async run({ args, options, io }) {
    const { generation, version } = generationOf(options.generation);
    const to = textOption("--to", options.to);
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const { findGuardedSession } = await import("../../guard/guarded-sessions.ts");
    const { restore: restoreKept } = await import("../../guard/restore.ts");
    const exportTo = to === undefined ? process.cwd() : resolve(to);
    const session = await findGuardedSession(args[0] ?? "");
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
  },
};

/** What the guard kept before the agent rewrote the session. */
function earlierText(losses: readonly Loss[]): string {
  const named = losses.map(({ generation, lost }) => {
    return lost === null ? `${generation}` : `${generation} (lines lost after it: ${lost})`;
  });
  const newest = losses.at(-1)?.generation;
  return `earlier generations: ${named.join(", ")}; --generation ${newest} --force writes one back`;
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
