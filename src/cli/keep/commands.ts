/** Commands of the group `keep`: what they are called and take. Each loads its code when it runs. */

import { DIALECT_NAMES } from "../../dialects/registry.ts";
import type { CliCommand } from "../command/command.ts";
import {
  FILTER_OPTIONS,
  PIN_OPTION,
  PROFILE_OPTION,
  WHERE_OPTIONS,
  YES_OPTION,
} from "../command/options.ts";
import { EXPORT_FORMATS } from "./export-formats.ts";

const status: CliCommand = {
  name: "status",
  summary: "Print what is guarded, and whether a guard is running",
  options: [{ flags: "--json", summary: "print one JSON object per agent and directory" }],
  examples: ["verbatim guard status"],

  run: async (run) => (await import("./guard.ts")).printStatus(run),
};

const install: CliCommand = {
  name: "install",
  summary: "Guard from now on: a service of your user, started at each login",
  options: [{ flags: "--sign", summary: "sign the copies with your key" }],
  examples: ["verbatim guard install"],

  run: async (run) => (await import("./guard.ts")).install(run),
};

const uninstall: CliCommand = {
  name: "uninstall",
  summary: "Stop and remove that service; the copies stay",
  options: [],
  examples: ["verbatim guard uninstall"],

  run: async (run) => (await import("./guard.ts")).uninstall(run),
};

const send: CliCommand = {
  name: "send",
  summary: "Deliver sessions to a server: all that wait for it, or these",
  args: [{ name: "[sessions...]", summary: "ids, the beginnings of ids, or paths" }],
  options: [
    { flags: "--to <url>", summary: "the server, and a folder there: https://host/folder" },
    { flags: "--json", summary: "print the result as one JSON object" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim guard send --to https://verbatim.example.com",
    "verbatim guard send --to https://verbatim.example.com/laptop hello_world-1739012630",
  ],

  run: async (run) => (await import("./send.ts")).runSend(run),
};

export const guard: CliCommand = {
  name: "guard",
  summary: "Keep copies of every agent's sessions, here or on a server",
  options: [
    { flags: "--once", summary: "copy what changed, and end; for cron" },
    { flags: "--verify", summary: "read the copies again, against sources and signatures" },
    { flags: "--sign", summary: "sign the copies with your key" },
    { flags: "--to <url>", summary: "also send the copies to a server: https://host/folder" },
    { flags: "--agent <name>", summary: "only this agent" },
    { flags: "--json", summary: "print one JSON object per event, problem or agent" },
  ],
  examples: [
    "verbatim guard",
    "verbatim guard --once",
    "verbatim guard --to https://verbatim.example.com",
    "verbatim guard install",
    "verbatim guard status",
    "verbatim guard --verify",
  ],
  commands: [status, install, uninstall, send],

  run: async (run) => (await import("./guard.ts")).guardCommand(run),
};

export const restore: CliCommand = {
  name: "restore",
  summary: "Bring a session back: out of the trash, or from the guard",
  args: [
    { name: "<session>", summary: "an id in the trash or of a guarded session, or its start" },
  ],
  options: [
    {
      flags: "--to <dir>",
      summary: "guarded: write it below this directory, as below the agent's own",
    },
    { flags: "--generation <n>", summary: "an older generation; n.v: version v of a whole file" },
    { flags: "--force", summary: "rename a longer or different file that is there" },
    { flags: "--json", summary: "print what was written, as JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim restore 6f1c2d3e",
    "verbatim restore 6f1c2d3e --generation 1 --force",
    "verbatim restore 6f1c2d3e --to /tmp/claude",
  ],

  run: async (run) => (await import("./restore.ts")).runRestore(run),
};

export const rm: CliCommand = {
  name: "rm",
  summary: "Remove sessions that you keep: to the trash for 30 days, or for good",
  args: [
    { name: "[sessions...]", summary: "ids, beginnings of ids, or paths; or choose by rules" },
  ],
  options: [
    { flags: "--purge", summary: "for good: not to the trash, and out of it" },
    { flags: "--reason <text>", summary: "why: for the trash, the tombstone or the hold" },
    { flags: "--older-than <age>", summary: "all that did not change for so long: 180d" },
    { flags: "--larger-than <size>", summary: "all that are larger: 100MB" },
    { flags: "--dry-run", summary: "only say what would be removed" },
    { flags: "--list", summary: "list the trash; `verbatim restore` takes a session out of it" },
    { flags: "--hold", summary: "remove nothing, and let nothing remove these sessions" },
    { flags: "--release", summary: "end their holds; let the guard copy them again" },
    { flags: "--revoke-shares", summary: "go on if a session is shared: revoke its shares" },
    { flags: "--leave-forks", summary: "go on if others began from it: they stay" },
    { flags: "--json", summary: "print one JSON object per session" },
    YES_OPTION,
    ...FILTER_OPTIONS.filter(({ flags }) => /--(agent|project|tag) /.test(flags)),
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim rm hello_world-1739012630",
    "verbatim rm --older-than 180d --dry-run",
    "verbatim rm --older-than 180d --project . --purge --yes",
    "verbatim rm --hold hello_world-1739012630 --reason 'case 4711'",
    "verbatim rm --list",
  ],

  run: async (run) => (await import("./rm.ts")).runRm(run),
};

export const exportSessions: CliCommand = {
  name: "export",
  summary: "Write sessions as md, html, jsonl, csv, etf, otlp or a bundle",
  args: [
    {
      name: "[sessions...]",
      summary: "ids, beginnings of ids, paths of logs, or `last`; or choose them with filters",
    },
  ],
  options: [
    {
      flags: "--format <name>",
      summary: `${Object.entries(EXPORT_FORMATS)
        .map(([name, { summary }]) => `${name}: ${summary}`)
        .join("; ")}; default: what the file's name ends with, else md`,
      choices: Object.keys(EXPORT_FORMATS),
    },
    {
      flags: "-o, --output <file>",
      summary:
        "write this file (replaced atomically), or one per session in this directory (html: with an index)",
    },
    { flags: "--all", summary: "all sessions, except those of subagents" },
    { flags: "--last <n>", summary: "html, jsonl, csv: only the last n entries" },
    { flags: "--thinking", summary: "md, html: also the model's thinking" },
    { flags: "--no-tools", summary: "md, html: only tool names, without input and output" },
    {
      flags: "--redact <rules>",
      summary:
        "html: mask what these rules of scan find, comma-separated; default: all; none: mask nothing",
    },
    { flags: "--notes", summary: "md, html: with your notes; html also needs --redact none" },
    { flags: "--no-metadata", summary: "md of rye: no heading above assistant messages" },
    {
      flags: "--to <url>",
      summary:
        "otlp: send the spans to this collector: sessions, turns, model and tool calls, with " +
        "names, counts and times, without content",
    },
    { flags: "--content", summary: "otlp: also prompts, answers, tool input and output" },
    {
      flags: "--header <name=value>",
      summary: "otlp: send this header; also from OTEL_EXPORTER_OTLP_HEADERS",
      isRepeatable: true,
    },
    { flags: "--service <name>", summary: "otlp: the service.name; default: verbatim" },
    { flags: "--follow", summary: "otlp: keep sending what is appended, until interrupted" },
    { flags: "--after <offset>", summary: "otlp: skip spans that ended by this byte offset" },
    { flags: "--summary <file>", summary: "bundle: a summary to include, marked as derived" },
    { ...PIN_OPTION, summary: `bundle: ${PIN_OPTION.summary}` },
    { ...PROFILE_OPTION, summary: `bundle: ${PROFILE_OPTION.summary}` },
    { flags: "--json", summary: "bundle: print what was written, as JSON" },
    ...FILTER_OPTIONS,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim export hello_world-1739012630 > transcript.md",
    "verbatim export hello --thinking -o transcript.html",
    "verbatim export hello --format bundle",
    "verbatim export --agent 'claude code' --since 7d --format jsonl > week.jsonl",
    "verbatim export --project . -o transcripts/",
    "verbatim export 2026-02-10-a1b2 --format etf > transcript.jsonl",
    "verbatim export hello --format otlp --to http://localhost:4318 --follow --content",
  ],

  run: async (run) => (await import("./export.ts")).runExport(run),
};

export const importBundle: CliCommand = {
  name: "import",
  summary: "Verify the session in a bundle of `export`, and add it to a store",
  args: [{ name: "<bundle>", summary: "a file that `verbatim export --format bundle` wrote" }],
  options: [
    {
      flags: "--root <dir>",
      summary:
        "store: a project (default: current directory), or HomeAgent's base (default: ~/.homeagent)",
    },
    {
      flags: "--dialect <name>",
      summary: "dialect to import to; another one than the bundle's makes a new session",
      choices: DIALECT_NAMES,
    },
    { flags: "--as <id>", summary: "other dialect: id of the new session" },
    { flags: "--agent <name>", summary: "other dialect: agent of the new session" },
    { flags: "--no-sign", summary: "other dialect: do not sign the new session" },
    PIN_OPTION,
    { flags: "--json", summary: "print what happened to every line, as JSON" },
  ],
  examples: [
    "verbatim import hello_world-1739012630.vbx",
    "verbatim import hello.vbx --dialect entire --root ~/project --json",
  ],

  run: async (run) => (await import("./bundles.ts")).runImport(run),
};
