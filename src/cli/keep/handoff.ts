/** `verbatim handoff`: exports a session into one file that another person can continue. */

import type { RecordedFrom } from "../../resume/handoff/of-program.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type CliCommand, textOption } from "../command/command.ts";
import { jsonLine } from "../command/json-line.ts";
import {
  PIN_OPTION,
  PROFILE_OPTION,
  SESSION_ARGUMENT,
  WHERE_OPTIONS,
  whereOf,
} from "../look/reading.ts";
import { orVerdictCode } from "../prove/verdict-code.ts";

/** A summary is short; longer texts belong into the session. */
const SUMMARY_BYTES_MAX = 1024 * 1024;

export const handoff: CliCommand = {
  name: "handoff",
  summary: "Write a verified session into one file that another person can continue",
  args: [SESSION_ARGUMENT],
  options: [
    {
      flags: "--output <file>",
      summary: "file to write; default: <session>.vbx in the current directory",
    },
    { flags: "--summary <file>", summary: "summary text to include, marked as derived" },
    PIN_OPTION,
    PROFILE_OPTION,
    { flags: "--json", summary: "print what was written, as JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim handoff hello_world-1739012630",
    "verbatim handoff hello --output /tmp/hello.vbx --summary notes.md",
  ],

  async run({ args, options, io }) {
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const { handoffSession } = await import("../../resume/handoff/handoff.ts");
    const { root, dialect } = whereOf(options);
    const output = textOption("--output", options.output);
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
  },
};

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
