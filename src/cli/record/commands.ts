/** Commands of the group `record`: what they are called and take. Each loads its code when it runs. */

import { DIALECT_NAMES } from "../../dialects/registry.ts";
import type { CliCommand } from "../command/command.ts";
import {
  PIN_OPTION,
  PROFILE_OPTION,
  SESSION_ARGUMENT,
  TARGETS,
  WHERE_OPTIONS,
} from "../command/options.ts";
import { RECORD_OPTIONS, RECORD_SOURCES } from "./dialect-options.ts";

export const record: CliCommand = {
  name: "record",
  summary: "Record JSON lines from stdin as entries, each in one durable append",
  options: [
    {
      flags: "--dialect <name>",
      summary: "the on-disk layout, and the shape of the entries; default: our own",
      choices: DIALECT_NAMES,
    },
    {
      flags: "--from <source>",
      summary: "format of stdin: a provider's event streams, or the JSON an agent sends to a hook",
      choices: ["anthropic-sse", "openai-sse", ...RECORD_SOURCES.flatMap(({ names }) => names)],
    },
    ...RECORD_SOURCES.flatMap(({ options }) => options),
    ...RECORD_OPTIONS.map(({ option: { flags, summary, choices }, dialect }) => ({
      flags,
      summary: `${dialect}: ${summary}`,
      ...(choices ? { choices } : {}),
    })),
    { flags: "--session <id>", summary: "session to continue or create; default: a new one" },
    {
      flags: "--root <dir>",
      summary: "the project, default: current directory; homeagent: its base",
    },
    {
      flags: "--durability <level>",
      summary: "when an entry counts as recorded: synced to disk, or written to the OS",
      choices: ["disk", "os"],
      default: "disk",
    },
    {
      flags: "--sign [when]",
      summary: "sign the session after each turn, or after each append",
      choices: ["turn", "append"],
    },
    {
      flags: "--to <url>",
      summary: "also send the session to a server: https://host/folder; recording never waits",
    },
    {
      flags: "--shared",
      summary: "let other processes write to the session too: each append takes the lock",
    },
    { flags: "--ack", summary: 'print {"offset":N} for each line once it is durable' },
    {
      flags: "--on-error <action>",
      summary:
        "on a malformed line: stop with exit code 2, skip it, or skip it and say so on stdout",
      choices: ["stop", "skip", "report"],
      default: "stop",
    },
  ],
  examples: [
    "my-agent | verbatim record",
    `echo '{"kind":"message","role":"user","parts":[{"type":"text","text":"hi"}]}' | verbatim record --ack`,
    "my-agent | verbatim record --dialect rye --directive hello_world",
    'echo \'{"type":"user_message","text":"hi"}\' | verbatim record --dialect rye --directive hi --ack',
    "my-agent | verbatim record --dialect homeagent --agent kitchen --session 2026-11-15",
    "my-agent | verbatim record --dialect entire --model claude-opus-4-5",
    "my-agent | verbatim record --dialect rye --session hello_world-1739012630 --on-error skip",
    "my-agent | verbatim record --dialect rye --directive deploy --sign",
    "my-agent | verbatim record --to https://verbatim.example.com/laptop",
    "curl -sN … | verbatim record --dialect entire --from anthropic-sse --session 2026-11-15-a",
    "verbatim record --from claude-code-hooks",
    "verbatim record --from codex-hooks --sign append",
  ],

  run: async (run) => (await import("./record.ts")).runRecord(run),
};

export const proxy: CliCommand = {
  name: "proxy",
  summary: "Record what a program says to models, through a local proxy",
  args: [{ name: "[command...]", summary: "what to run, after `--`; default: until Ctrl-C" }],
  options: [
    {
      flags: "--to <url>",
      summary: "a server with one of their APIs, in the place of the three providers",
    },
    { flags: "--port <n>", summary: "port on 127.0.0.1; default: a free one" },
    { flags: "--raw", summary: "also keep requests and answers as they were, for --replay" },
    {
      flags: "--replay <session>",
      summary: "answer from a session recorded with --raw: no network, no key",
    },
    { flags: "--live-after <n>", summary: "replay n calls, then go on with the provider" },
    { flags: "--root <dir>", summary: "the project; default: current directory" },
    {
      flags: "--durability <level>",
      summary: "when an entry counts as recorded: synced to disk, or written to the OS",
      choices: ["disk", "os"],
      default: "disk",
    },
    {
      flags: "--sign [when]",
      summary: "sign the sessions after each turn, or after each append",
      choices: ["turn", "append"],
    },
  ],
  examples: [
    "verbatim proxy -- python agent.py",
    "verbatim proxy --sign -- claude",
    "verbatim proxy --port 4439",
    "verbatim proxy --to http://localhost:11434/v1 -- python agent.py",
    "verbatim proxy --raw -- python agent.py",
    "verbatim proxy --replay last -- python agent.py",
  ],

  run: async (run) => (await import("./proxy.ts")).runProxy(run),
};

export const resume: CliCommand = {
  name: "resume",
  summary: "Verify a session and print the API request that continues it",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "--for <provider>", summary: "API to make the request for", choices: TARGETS },
    { flags: "--json", summary: "print the request on one line, and the report as JSON on stderr" },
    { flags: "--model <name>", summary: "model to ask; default: the session's model" },
    { flags: "--max-tokens <n>", summary: "maximum tokens of the answer; anthropic: default 4096" },
    {
      flags: "--prompt <text>",
      summary: 'next user message; default: "Continue." where one is needed',
    },
    {
      flags: "--up-to <turn>",
      summary: "stop after this turn; continuing from there makes a fork",
    },
    { flags: "--lenient", summary: "include unsigned lines, marked in the report" },
    { flags: "--allow-unsigned", summary: "accept a session in which nothing is signed" },
    PIN_OPTION,
    PROFILE_OPTION,
    { flags: "--snapshot", summary: "read the session while another process writes it" },
    {
      flags: "--record",
      summary: "append the report to the session; with --up-to, to the fork",
    },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim resume hello_world-1739012630 --for anthropic --json > request.json",
    'verbatim resume hello --for openai-chat --prompt "And now?" --model gpt-5.5',
    "verbatim resume hello --for anthropic --up-to 3 --record",
  ],

  run: async (run) => (await import("./resume.ts")).runResume(run),
};
