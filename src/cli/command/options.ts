/** Options: arguments and options that several commands have, and values that their code needs too. */

import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import type { SessionSort } from "../../dialects/session-row.ts";
import type { StoreLookup } from "../../sessions/list/find-stores.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type CommandArgument, type CommandOption, type Run, textOption } from "./command.ts";

export const SESSION_ARGUMENT: CommandArgument = {
  name: "<session>",
  summary: "an id, the beginning of one, the path of a log, or `last`",
};

/** In which stores sessions are looked for. Explained by `verbatim help options`. */
export const WHERE_OPTIONS: readonly CommandOption[] = [
  { flags: "--root <dir>", summary: "store to look in: a project, or HomeAgent's base" },
  {
    flags: "--dialect <name>",
    summary: "only sessions of this dialect, the on-disk layout",
    choices: READ_DIALECT_NAMES,
  },
].map((option) => ({ ...option, isShared: true }));

/** Which of these sessions are meant. Explained by `verbatim help options`. */
export const FILTER_OPTIONS: readonly CommandOption[] = [
  { flags: "--agent <name>", summary: "only of this agent: its program, dialect or own name" },
  {
    flags: "--project <name>",
    summary:
      "only of this project: part of its name, =NAME, or a path (. is here) and all below it",
  },
  { flags: "--since <when>", summary: "only from this day or time on: 2026-11-15, 7d, 12h" },
  { flags: "--until <when>", summary: "only up to this day or time, the day included" },
  { flags: "--model <name>", summary: "only with this model, or one whose name contains it" },
  { flags: "--machine <name>", summary: "only what this machine sent to the server of --root" },
  { flags: "--user <name>", summary: "only what this user sent to it" },
  { flags: "--tag <tag>", summary: "only with this tag: yours, or the session's own" },
  { flags: "--starred", summary: "only those that you starred" },
].map((option) => ({ ...option, isShared: true }));

/** For commands that verify one session. */
export const PIN_OPTION: CommandOption = {
  flags: "--require-pin",
  summary: "refuse a session without a pinned head",
};

export const PROFILE_OPTION: CommandOption = {
  flags: "--profile <name>",
  summary: "also read checkpoints of the Python original",
  choices: [LEGACY_PROFILE],
};

/** How entries are printed; `--json` prints them whole. */
export const VIEW_OPTIONS: readonly CommandOption[] = [
  { flags: "--json", summary: "print one JSON object per entry" },
  { flags: "--thinking", summary: "also show the model's thinking" },
  { flags: "--no-tools", summary: "show only tool names, without input and output" },
];

/** The search place from the options. */
export function whereOf(options: Run["options"]): StoreLookup {
  return {
    cwd: process.cwd(),
    root: textOption("--root", options.root),
    dialect: options.dialect as string | undefined,
  };
}

/** For commands that only read: they also see what a server received. */
export function readingWhereOf(options: Run["options"]): StoreLookup {
  return { ...whereOf(options), hasReceived: true };
}

export const DATA_OPTION: CommandOption = {
  flags: "--data <directory>",
  summary: "the server's data directory; default: $XDG_DATA_HOME/verbatim",
};

export const YES_OPTION: CommandOption = {
  flags: "--yes",
  summary: "do not ask for confirmation; for scripts",
};

/** What a session is sorted by, as the catalog names it. */
export const SORTS: Readonly<Record<string, SessionSort>> = {
  updated: "updated",
  created: "created",
  cost: "spend",
  tokens: "tokens",
  turns: "turns",
  id: "id",
};

/** What `usage` can be asked for. */
export const REPORTS = [
  "daily",
  "weekly",
  "monthly",
  "session",
  "project",
  "model",
  "agent",
  "machine",
  "user",
  "directive",
  "blocks",
] as const;

/** APIs that `resume` makes a request for. */
export const TARGETS = ["anthropic", "openai-chat", "openai-responses", "ai-sdk"] as const;
