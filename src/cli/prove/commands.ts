/** Commands of the group `prove`: what they are called and take. Each loads its code when it runs. */

import type { CliCommand, CommandOption } from "../command/command.ts";
import {
  DATA_OPTION,
  FILTER_OPTIONS,
  PROFILE_OPTION,
  SESSION_ARGUMENT,
  WHERE_OPTIONS,
  YES_OPTION,
} from "../command/options.ts";

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
    ...FILTER_OPTIONS,
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

  run: async (run) => (await import("./verify.ts")).runVerify(run),
};

const prove: CliCommand = {
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
    "verbatim redact prove hello --entry 12 --context 2 -o answer.vbp",
    "verbatim redact prove hello.vbd --entry 12 -o answer.vbp",
    "verbatim redact prove hello --entry 12 -o answer.html",
    "verbatim redact prove hello --consistency 3..9 -o heads.vbp",
    "verbatim redact prove hello --entry 12 --tlog -o answer.tlog-proof",
    "verbatim verify answer.vbp --key ada.pem",
  ],

  run: async (run) => (await import("./prove.ts")).proveCommand(run),
};

export const redact: CliCommand = {
  name: "redact",
  summary: "Show part of a session and prove it, or prove single entries",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "-o, --output <file>", summary: "file to write, NAME.vbd; must not exist" },
    { flags: "--reason <text>", summary: "why these things are withheld; readers see it" },
    {
      flags: "--match <text>",
      summary: "withhold every string or line with this text, in any spelling of it",
      isRepeatable: true,
    },
    { flags: "--allow-missing", summary: "continue if a text of --match is not found" },
    {
      flags: "--entry <n>",
      summary: "withhold the entry on this line of the log, from 1",
      isRepeatable: true,
    },
    {
      flags: "--rule <name>",
      summary: "withhold what this rule of `scan` finds; `all` for every rule",
      isRepeatable: true,
    },
    { flags: "--from-scan <file>", summary: "withhold what `verbatim scan --json` found" },
    {
      flags: "--in-place",
      summary: "erase it from the session itself, for good; keeps a copy as proof of the rest",
    },
    { flags: "--mask", summary: "add your wording: the text around what was found" },
    {
      flags: "--plain",
      summary: "write a masked copy without any proof, of unsigned sessions too",
    },
    { flags: "--dry-run", summary: "only show what would be withheld" },
    YES_OPTION,
    { flags: "--json", summary: "print what was withheld, as JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    'verbatim redact hello --match "17 Mill Lane" --reason "private address" -o hello.vbd',
    'verbatim redact hello --entry 12 --entry 13 --reason "another client" -o hello.vbd',
    'verbatim redact hello --rule all --dry-run --reason "keys and addresses"',
    'verbatim redact hello --in-place --match "17 Mill Lane" --reason "private address"',
    "verbatim verify hello.vbd --key ada.pem",
  ],
  commands: [prove],

  run: async (run) => (await import("./redact.ts")).runRedact(run),
};

export const scan: CliCommand = {
  name: "scan",
  summary: "Find keys, passwords and personal data in sessions",
  args: [
    {
      name: "[sessions...]",
      summary:
        "ids, beginnings of ids, paths of logs, or `last`; default: all sessions found from here",
    },
  ],
  options: [
    { flags: "--all", summary: "all sessions found from here, as without names" },
    { flags: "--rule <id>", summary: "print only finds of this rule", isRepeatable: true },
    {
      flags: "--pattern <name=regex>",
      summary: "a pattern of your own, NAME=REGEX or NAME=/REGEX/i",
      isRepeatable: true,
    },
    { flags: "--patterns <file>", summary: "patterns of your own, one per line; # for comments" },
    { flags: "--rescan", summary: "ignore what earlier scans found, and read everything again" },
    { flags: "--json", summary: "print one JSON object per find" },
    ...FILTER_OPTIONS,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim scan last",
    "verbatim scan --project . --rule github --rule aws",
    "verbatim scan --pattern 'ticket=INC-\\d{4,8}'",
    "verbatim scan --json | jq -r '[.session, .rule, .tool] | @tsv'",
  ],

  run: async (run) => (await import("./scan.ts")).scanCommand(run),
};

const SHARES_STORE_OPTION: CommandOption = {
  flags: "--store <url>",
  summary: "the server's database instead: postgres://user@host/database",
};

const shareLs: CliCommand = {
  name: "ls",
  summary: "List the shares, and until when their links work",
  options: [
    DATA_OPTION,
    SHARES_STORE_OPTION,
    { flags: "--json", summary: "print one JSON object per share" },
  ],
  examples: ["verbatim share ls"],

  run: async (run) => (await import("./share.ts")).listShares(run),
};

const shareRevoke: CliCommand = {
  name: "revoke",
  summary: "Revoke a share for good; open connections end in a second",
  args: [{ name: "<id>", summary: "as `verbatim share ls` shows it" }],
  options: [DATA_OPTION, SHARES_STORE_OPTION, { flags: "--json", summary: "print JSON" }],
  examples: ["verbatim share revoke 3f9a1c07"],

  run: async (run) => (await import("./share.ts")).revokeShare(run),
};

export const share: CliCommand = {
  name: "share",
  summary: "Share part of a session by a link that expires and can be revoked",
  args: [SESSION_ARGUMENT],
  options: [
    {
      flags: "--redact <rules>",
      summary: "rules of `scan`, comma-separated, whose finds are withheld; `none` for none",
      default: "default",
    },
    {
      flags: "--match <text>",
      summary: "withhold every string or line with this text",
      isRepeatable: true,
    },
    { flags: "--allow-missing", summary: "continue if a text of --match is not found" },
    {
      flags: "--entry <n>",
      summary: "withhold the entry on this line of the log",
      isRepeatable: true,
    },
    { flags: "--reason <text>", summary: "why these things are withheld; readers see it" },
    {
      flags: "--expires <when>",
      summary: "2h, 7d, or a time: 2027-01-31T00:00:00Z",
      default: "1d",
    },
    { flags: "--live", summary: "follow the session and show each signed turn, until Ctrl-C" },
    {
      flags: "--delay <turns>",
      summary: "with --live: show a turn after this many more",
      default: "0",
    },
    {
      flags: "--url <url>",
      summary: "the server's address in the link; default: that of this machine",
    },
    DATA_OPTION,
    SHARES_STORE_OPTION,
    YES_OPTION,
    { flags: "--json", summary: "print JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim share last --expires 2h",
    'verbatim share hello --match "17 Mill Lane" --reason "private address" --yes',
    "verbatim share hello --live --delay 1 --expires 2h",
    "verbatim share ls",
    "verbatim share revoke 3f9a1c07",
    "verbatim share last --store postgres://verbatim@db.example.com/streams --yes",
  ],
  commands: [shareLs, shareRevoke],

  run: async (run) => (await import("./share.ts")).runShare(run),
};
