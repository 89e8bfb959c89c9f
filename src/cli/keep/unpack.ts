/** `verbatim unpack`: verifies a bundle and puts its session into a store. */

import { DIALECT_NAMES } from "../../dialects/registry.ts";
import type { FidelityChange } from "../../resume/handoff/transcode.ts";
import type { Unpacked } from "../../resume/handoff/unpack.ts";
import { type CliCommand, textOption } from "../command/command.ts";
import { jsonLine } from "../command/json-line.ts";
import { PIN_OPTION, whereOf } from "../look/reading.ts";
import { orVerdictCode } from "../prove/verdict-code.ts";

const CHANGES_LISTED_MAX = 50;

export const unpack: CliCommand = {
  name: "unpack",
  summary: "Verify the session in a bundle and add it to a store",
  args: [{ name: "<bundle>", summary: "a file that `verbatim handoff` wrote" }],
  options: [
    {
      flags: "--root <dir>",
      summary:
        "store: a project (default: current directory), or HomeAgent's base (default: ~/.homeagent)",
    },
    {
      flags: "--dialect <name>",
      summary: "dialect to unpack to; another one than the bundle's makes a new session",
      choices: DIALECT_NAMES,
    },
    { flags: "--as <id>", summary: "other dialect: id of the new session" },
    { flags: "--agent <name>", summary: "other dialect: agent of the new session" },
    { flags: "--no-sign", summary: "other dialect: do not sign the new session" },
    PIN_OPTION,
    { flags: "--json", summary: "print what happened to every line, as JSON" },
  ],
  examples: [
    "verbatim unpack hello_world-1739012630.vbx",
    "verbatim unpack hello.vbx --dialect entire --root ~/project --json",
  ],

  async run({ args, options, io }) {
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
  },
};

function describe({ session, dialect, path, verdict, fidelity, from }: Unpacked): string[] {
  const { byteExact, entries, kept, approximated, dropped, times, changes } = fidelity;
  const said = `${session}: ${verdict ?? "unsigned"}; in ${path} (${dialect})`;
  if (byteExact) return [said, `  ${entries} lines, byte for byte`];
  const more = changes.length - CHANGES_LISTED_MAX;
  return [
    said,
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
