/** Commands of the group `keep`: what they are called and take. Each loads its code when it runs. */

import { DIALECT_NAMES } from "../../dialects/registry.ts";
import type { CliCommand } from "../command/command.ts";
import { PIN_OPTION, PROFILE_OPTION, SESSION_ARGUMENT, WHERE_OPTIONS } from "../command/options.ts";
import { EXPORT_FORMATS } from "../record/dialect-commands.ts";

export const guard: CliCommand = {
  name: "guard",
  summary: "Keep copies of every agent's sessions, until interrupted",
  args: [{ name: "[action]", summary: "status, install or uninstall; default: guard" }],
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

  run: async (run) => (await import("./guard.ts")).guardCommand(run),
};

export const send: CliCommand = {
  name: "send",
  summary: "Deliver sessions to a server: all that wait for it, or these",
  args: [{ name: "[sessions...]", summary: "ids, the beginnings of ids, or paths" }],
  options: [
    { flags: "--to <url>", summary: "the server, and a folder there: https://host/folder" },
    { flags: "--json", summary: "print the result as one JSON object" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim send --to https://verbatim.example.com",
    "verbatim send --to https://verbatim.example.com/laptop hello_world-1739012630",
  ],

  run: async (run) => (await import("./send.ts")).runSend(run),
};

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

  run: async (run) => (await import("./restore.ts")).runRestore(run),
};

export const render: CliCommand = {
  name: "render",
  summary: "Render a session as a document, in Markdown or HTML",
  args: [{ name: "[session]", summary: "an id, the beginning of one, or the path of a log" }],
  options: [
    { flags: "--thread-id <id>", summary: "rye thread with exactly this id" },
    { flags: "--thinking", summary: "also print the model's thinking" },
    { flags: "--no-tools", summary: "print only tool names" },
    { flags: "--no-metadata", summary: "rye: no heading above assistant messages" },
    { flags: "--html", summary: "print an HTML page, like show --html" },
    { flags: "--output <file>", summary: "write to this file (replaced atomically)" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim render hello_world-1739012630 > transcript.md",
    "verbatim render --thread-id hello_world-1739012630 --root ~/project",
    "verbatim render hello --thinking --output transcript.md",
    "verbatim render hello --html --output transcript.html",
  ],

  run: async (run) => (await import("./render.ts")).runRender(run),
};

export const exportSession: CliCommand = {
  name: "export",
  summary: "Convert a session to another program's format, or send it as telemetry",
  args: [SESSION_ARGUMENT],
  options: [
    {
      flags: "--format <name>",
      summary: Object.entries(EXPORT_FORMATS)
        .map(([name, { summary }]) => `${name}: ${summary}`)
        .join("; "),
      choices: Object.keys(EXPORT_FORMATS),
    },
    { flags: "--output <file>", summary: "write to this file (replaced atomically)" },
    {
      flags: "--otlp <url>",
      summary:
        "send spans to this OpenTelemetry collector: sessions, turns, model and tool calls, " +
        "with names, counts and times, without content",
    },
    {
      flags: "--content",
      summary: "with --otlp: also send prompts, answers, tool input and output",
    },
    {
      flags: "--header <name=value>",
      summary: "with --otlp: send this header; also from OTEL_EXPORTER_OTLP_HEADERS",
      isRepeatable: true,
    },
    { flags: "--service <name>", summary: "with --otlp: the service.name; default: verbatim" },
    { flags: "--follow", summary: "with --otlp: keep sending what is appended, until interrupted" },
    {
      flags: "--after <offset>",
      summary: "with --otlp: skip spans that ended by this byte offset",
    },
    {
      flags: "--json",
      summary: "with --otlp: print the requests as JSON lines instead of sending them",
    },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim export 2026-02-10-a1b2 --format etf > transcript.jsonl",
    "verbatim export hello_world-1739012630 --format etf --output transcript.jsonl",
    "verbatim export hello_world-1739012630 --otlp http://localhost:4318",
    "verbatim export hello --otlp http://localhost:4318 --follow --content",
  ],

  run: async (run) => (await import("./export.ts")).runExport(run),
};

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

  run: async (run) => (await import("./handoff.ts")).runHandoff(run),
};

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

  run: async (run) => (await import("./handoff.ts")).runUnpack(run),
};
