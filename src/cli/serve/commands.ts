/** Commands of the group `serve`: what they are called and take. Each loads its code when it runs. */

import type { CliCommand, CommandGroup } from "../command/command.ts";
import { PROFILE_OPTION, WHERE_OPTIONS } from "../command/options.ts";
import { ACCESS_OPTIONS } from "./server-access.ts";
import { token } from "./tokens.ts";

export const serve: CliCommand = {
  name: "serve",
  summary: "Serve the viewer, the API and streams, until interrupted",
  options: [
    {
      flags: "--host <address>",
      summary: "address to listen on; other machines need a token",
      default: "127.0.0.1",
    },
    { flags: "--port <number>", summary: "port to listen on; 0: any free port", default: "4437" },
    { flags: "--open", summary: "open the viewer in your browser" },
    {
      flags: "--data <directory>",
      summary: "directory of the streams; default: $XDG_DATA_HOME/verbatim",
    },
    {
      flags: "--store <url>",
      summary: "keep streams in PostgreSQL: postgres://user@host/database",
    },
    {
      flags: "--durability <level>",
      summary: "with --store: what appends must survive: memory, disk or standby; default: disk",
    },
    {
      flags: "--statement-timeout <ms>",
      summary: "with --store: how long a statement may take; default: 5000, and 1000 for each MiB",
    },
    {
      flags: "--connect-timeout <ms>",
      summary: "with --store: how long connecting to the database may take; default: 5000",
    },
    {
      flags: "--root <dir>",
      summary: "store whose sessions are served; repeatable; default: those that ls finds",
      isRepeatable: true,
    },
    {
      flags: "--keep-received <age>",
      summary: "delete sessions that machines sent so long after their last change, such as 180d",
    },
    {
      flags: "--long-poll-timeout <ms>",
      summary: "how long a read waits for new data",
      default: "20000",
    },
    { flags: "--max-body <bytes>", summary: "maximum size of an append", default: "16777216" },
    { flags: "--sign", summary: "sign appends with your key" },
    {
      flags: "--witness <file>",
      summary: "be a witness of the logs in this list: cosign their heads (docs/witnesses.md)",
    },
    { flags: "--guard", summary: "also keep copies of every agent's sessions: `verbatim guard`" },
    {
      flags: "--check <place>",
      summary:
        "only check this data directory or postgres:// URL and write nothing; exits with 1 if damaged",
    },
    {
      flags: "--json",
      summary: "with --check: print one JSON object per finding, and a summary last",
    },
    {
      flags: "--allow-local-webhooks",
      summary: "let subscriptions call programs on this machine",
    },
    ...ACCESS_OPTIONS,
  ],
  examples: [
    "verbatim serve --open",
    "verbatim serve --port 0 --data ./streams",
    "verbatim serve --root ~/project --root ~/.homeagent",
    "verbatim serve --allow-origin https://app.example.com",
    "verbatim serve --witness logs.txt --host 0.0.0.0",
    "verbatim serve --check ./streams",
    "verbatim serve --check postgres://verbatim@db.example.com/streams",
    "verbatim serve --store postgres://verbatim@db.example.com/streams --durability standby",
    "verbatim serve --store 'postgres://verbatim@db-1,db-2/streams?target_session_attrs=read-write'",
  ],

  run: async (run) => (await import("./serve.ts")).runServe(run),
};

export const open: CliCommand = {
  name: "open",
  summary: "Open the running server's viewer in your browser",
  options: [
    {
      flags: "--data <directory>",
      summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
    },
    { flags: "--print", summary: "print the link, and open no browser" },
  ],
  examples: ["verbatim open", "verbatim open --print"],

  run: async (run) => (await import("./open.ts")).runOpen(run),
};

export const mcp: CliCommand = {
  name: "mcp",
  summary: "Let agents list, search, read and verify sessions (MCP)",
  options: [...WHERE_OPTIONS],
  examples: [
    "verbatim mcp --root /srv/project",
    "claude mcp add verbatim -- verbatim mcp --root /srv/project",
  ],

  run: async (run) => (await import("./mcp.ts")).runMcp(run),
};

export const doctor: CliCommand = {
  name: "doctor",
  summary: "Find problems of sessions and streams; --fix mends them",
  args: [
    {
      name: "[sessions...]",
      summary:
        "sessions, logs, roots of stores, or a server's data directory; default: all stores " +
        "found from here",
    },
  ],
  options: [
    { flags: "--fix", summary: "mend torn tails, permissions, derived files; makes copies first" },
    { flags: "--dry-run", summary: "with --fix: print what would be done, and change nothing" },
    { flags: "--vouch", summary: "with --fix: show unsigned lines, ask, and sign them" },
    { flags: "--yes", summary: "with --vouch: do not ask for confirmation; for scripts" },
    { ...PROFILE_OPTION, summary: `with --vouch: ${PROFILE_OPTION.summary}` },
    {
      flags: "--json",
      summary: "print one JSON object per finding, or with --fix per step, and a summary last",
    },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim doctor",
    "verbatim doctor hello_world-1739012630",
    "verbatim doctor ~/project --json | jq -r 'select(.mends).path'",
    "verbatim doctor --fix --dry-run",
    "verbatim doctor --fix hello_world-1739012630",
    "verbatim doctor --fix --vouch hello_world-1739012630",
  ],

  run: async (run) => (await import("./doctor.ts")).runDoctor(run),
};

const backup: CliCommand = {
  name: "backup",
  summary: "Copy a running server's streams to a new directory; serve that one to restore",
  args: [{ name: "<directory>", summary: "target directory: new or empty" }],
  options: [
    {
      flags: "--data <directory>",
      summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
    },
    {
      flags: "--store <url>",
      summary: "the server's database instead: postgres://user@host/database",
    },
    { flags: "--json", summary: "print what was copied, as JSON" },
  ],
  examples: [
    "verbatim server backup /mnt/backup/streams-1",
    "verbatim server backup ./copy --data ./streams && verbatim verify ./copy",
    "verbatim server backup ./copy --store postgres://verbatim@db.example.com/streams",
    "verbatim serve --data /mnt/backup/streams-1",
  ],

  run: async (run) => (await import("./copies.ts")).runBackup(run),
};

const copy: CliCommand = {
  name: "copy",
  summary: "Copy a stopped server's streams between a data directory and PostgreSQL",
  options: [
    { flags: "--from <place>", summary: "a data directory, or postgres://user@host/database" },
    { flags: "--to <place>", summary: "a new or empty one of either kind" },
    { flags: "--json", summary: "print what was copied, as JSON" },
  ],
  examples: [
    "verbatim server copy --from ./streams --to postgres://verbatim@db.example.com/streams",
    "verbatim server copy --from postgres://verbatim@db.example.com/streams --to ./streams-2",
  ],

  run: async (run) => (await import("./copies.ts")).runCopy(run),
};

export const server: CommandGroup = {
  name: "server",
  summary: "Manage a server's data: backup, copy, access tokens",
  commands: [backup, copy, token],
};
