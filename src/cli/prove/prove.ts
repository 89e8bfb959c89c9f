/** `verbatim prove`: proves that lines are part of a signed session, without the rest of it. */

import type { CliCommand } from "../command/command.ts";
import { SESSION_ARGUMENT, WHERE_OPTIONS } from "../look/reading.ts";

export const prove: CliCommand = {
  name: "prove",
  summary: "Write a proof that single entries are part of a signed session",
  args: [
    {
      ...SESSION_ARGUMENT,
      summary: `${SESSION_ARGUMENT.summary}; or a disclosed copy (.vbd)`,
    },
  ],
  options: [
    {
      flags: "-o, --output <file>",
      summary:
        "file to write, NAME.vbp, or NAME.html for a page that checks itself; must not exist",
    },
    {
      flags: "--entry <n>",
      summary: "prove the entry on this line of the log, from 1",
      isRepeatable: true,
    },
    { flags: "--context <n>", summary: "also prove so many lines before and after; default 0" },
    {
      flags: "--consistency <old..new>",
      summary: "prove that checkpoint NEW continues the log of checkpoint OLD",
    },
    {
      flags: "--tlog",
      summary: "write one entry as a C2SP tlog-proof, NAME.tlog-proof, with kept cosignatures",
    },
    { flags: "--as <name>", summary: "with --tlog: your name in the log's origin" },
    { flags: "--json", summary: "print the verdict on the proof, as JSON" },
    // Other forms of proof add their options here, and their writer in run-prove.ts.
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim prove hello --entry 12 --context 2 -o answer.vbp",
    "verbatim prove hello.vbd --entry 12 -o answer.vbp",
    "verbatim prove hello --entry 12 -o answer.html",
    "verbatim prove hello --consistency 3..9 -o heads.vbp",
    "verbatim prove hello --entry 12 --tlog -o answer.tlog-proof",
    "verbatim verify answer.vbp --key ada.pem",
  ],

  async run(run) {
    if (run.options.tlog === true) return (await import("./run-witness.ts")).proveTlog(run);
    const { runProve } = await import("./run-prove.ts");
    return runProve(run);
  },
};
