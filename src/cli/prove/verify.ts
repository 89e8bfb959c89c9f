/** `verbatim verify`: prints verdicts on sessions, and their reasons. */

import type { CliCommand } from "../command/command.ts";
import { PROFILE_OPTION, WHERE_OPTIONS } from "../look/reading.ts";

export const verify: CliCommand = {
  name: "verify",
  summary: "Check that sessions are unchanged since they were signed",
  args: [
    {
      name: "[sessions...]",
      summary:
        "ids, beginnings of ids, paths of logs, directories, disclosed copies (.vbd), proofs (.vbp), a server's " +
        "data directory, or postgres://user@host/database and paths of its streams; default: all " +
        "sessions found from here",
    },
  ],
  options: [
    { flags: "--json", summary: "print one JSON report per session" },
    { flags: "--deep", summary: "check every signature and line, also in files over 64 MiB" },
    { flags: "--lenient", summary: "exit with 0 if lines follow the signed part" },
    { flags: "--allow-unsigned", summary: "exit with 0 if nothing is signed" },
    { flags: "--require-pin", summary: "refuse sessions without a pinned head" },
    {
      flags: "--against <file>",
      summary: "also check against heads that another machine exported; all must be found",
    },
    { flags: "--pin", summary: "pin the heads of verified sessions" },
    { flags: "--ask-witness", summary: "ask your witnesses whether they have seen more" },
    {
      flags: "--require-witness <name>",
      summary: "refuse sessions that this witness did not cosign; repeatable",
      isRepeatable: true,
    },
    { flags: "--origin <name>", summary: "with --ask-witness: the signer's name there" },
    { flags: "--tsa-ca <file>", summary: "check time stamps by these certificates, with openssl" },
    { flags: "--key <file>", summary: "disclosed copies, proofs: also trust this public key, PEM" },
    PROFILE_OPTION,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim verify hello_world-1739012630",
    "verbatim verify --root . --json | jq 'select(.verdict != \"verified\")'",
    "verbatim verify .ai/threads --require-pin",
    "verbatim verify ~/.local/share/verbatim",
    "verbatim verify postgres://verbatim@db.example.com/streams",
    "verbatim verify postgres://verbatim@db.example.com/streams /orders/17",
    "verbatim verify backup/transcript.jsonl --against pins.jsonl",
    "verbatim verify last --ask-witness --require-witness witness.example/w1",
    "verbatim verify hello.vbd --key ada.pem",
    "verbatim verify answer.vbp --key ada.pem",
  ],

  async run(run) {
    const { runVerify } = await import("./verify-run.ts");
    return runVerify(run);
  },
};
