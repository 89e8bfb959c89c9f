/** Bundles: a verified session as one file (`export --format bundle`), and back (`import`). */

import type { RecordedFrom } from "../../resume/handoff/of-program.ts";
import type { FidelityChange } from "../../resume/handoff/transcode.ts";
import type { Unpacked } from "../../resume/handoff/unpack.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type Run, textOption } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { orVerdictCode } from "../prove/verdict-code.ts";

/** A summary is short; longer texts belong into the session. */
const SUMMARY_BYTES_MAX = 1024 * 1024;

export async function exportBundle(
  { args, options, io }: Run,
  output: string | undefined,
): Promise<number> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { handoffSession } = await import("../../resume/handoff/handoff.ts");
  const { root, dialect } = whereOf(options);
  const summary = await textIn(textOption("--summary", options.summary));
  const handed = await orVerdictCode(io, () =>
    handoffSession(nodeHost, args[0] ?? "", {
      ...(root === undefined ? {} : { root }),
      ...(dialect === undefined ? {} : { dialect }),
      ...(output === undefined ? {} : { output }),
      ...(summary === undefined ? {} : { summary }),
      requirePin: options.requirePin === true,
      ...(options.profile === LEGACY_PROFILE ? { profile: options.profile } : {}),
    }),
  );
  if (typeof handed === "number") return handed;
  const { path, bytes, manifest, metaDoubt, remoteDoubt, recordedFrom } = handed;
  if (metaDoubt !== null) io.err(`thread.json was left out: ${metaDoubt}`);
  if (remoteDoubt !== null) io.err(`the git remote was left out: ${remoteDoubt}`);
  if (options.json) await io.print(jsonLine(handed));
  else io.out(path);
  if (recordedFrom && !options.json) io.err(describeSource(recordedFrom));
  if (!options.json) {
    io.err(`${manifest.session}: verified; ${bytes} bytes, signed by ${manifest.kid}`);
  }
  return 0;
}

function describeSource({ session, dialect, fidelity }: RecordedFrom): string {
  const { entries, kept, approximated, dropped } = fidelity;
  return (
    `${session} (${dialect}) is not signed; it was recorded as a new session, signed by you: ` +
    `${entries} lines, ${kept} kept, ${approximated} approximated, ${dropped} dropped`
  );
}

async function textIn(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const { resolve } = await import("node:path");
  const { readUserFile } = await import("../../core/base/node-user-files.ts");
  const { UsageError } = await import("../command/command.ts");
  const rules = { bytesMax: SUMMARY_BYTES_MAX, access: "anyone" } as const;
  const file = readUserFile(resolve(path), rules);
  if (file === null) throw new UsageError(`${path} does not exist`);
  if (file.text === null) throw new UsageError(`${path} is refused: ${file.fault}`);
  return file.text;
}

const CHANGES_LISTED_MAX = 50;

export async function runImport({ args, options, io }: Run): Promise<number> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { unpackBundle } = await import("../../resume/handoff/unpack.ts");
  const { root, dialect } = whereOf(options);
  const id = textOption("--as", options.as);
  const agent = textOption("--agent", options.agent);
  const unpacked = await orVerdictCode(io, () =>
    unpackBundle(nodeHost, args[0] ?? "", {
      ...(root === undefined ? {} : { root }),
      ...(dialect === undefined ? {} : { dialect }),
      ...(id === undefined ? {} : { id }),
      ...(agent === undefined ? {} : { agent }),
      sign: options.sign !== false,
      requirePin: options.requirePin === true,
      onWarning: (warning) => io.err(`warning: ${warning}`),
    }),
  );
  if (typeof unpacked === "number") return unpacked;
  if (options.json) await io.print(jsonLine(unpacked));
  else io.out(unpacked.session);
  if (!options.json) io.err(describe(unpacked).join("\n"));
  return 0;
}

function describe({ session, dialect, path, verdict, fidelity, from }: Unpacked): string[] {
  const { byteExact, entries, kept, approximated, dropped, times, changes } = fidelity;
  const line = `${session}: ${verdict ?? "unsigned"}; in ${path} (${dialect})`;
  if (byteExact) return [line, `  ${entries} lines, byte for byte`];
  const more = changes.length - CHANGES_LISTED_MAX;
  return [
    line,
    `  ${entries} lines of ${from.session} (${from.dialect}): ${kept} kept, ` +
      `${approximated} approximated, ${dropped} dropped; times ${times}`,
    ...changes.slice(0, CHANGES_LISTED_MAX).map(describeChange),
    ...(more > 0 ? [`  and ${more} more; --json tells all`] : []),
  ];
}

function describeChange({ line, lines = 1, fate, why, changed }: FidelityChange): string {
  const where = lines === 1 ? `line ${line}` : `lines ${line} to ${line + lines - 1}`;
  return `  ${where}: ${fate}, ${why?.replace("_", " ") ?? changed?.join(", ")}`;
}
