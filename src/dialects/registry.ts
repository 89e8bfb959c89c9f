/**
 * Registry: the dialects by name, with what finds their sessions. Data alone: their code is loaded
 * when a store, a listing or a path needs it (all.ts). To add one: docs/adding-a-dialect.md.
 */

import { dirname } from "node:path/posix";
import { type OwnOptions, requireChoice } from "../core/base/choice.ts";
import { surroundings } from "../core/base/node-paths.ts";
import { OPTIONS as ENTIRE_OPTIONS } from "./entire/options.ts";
import { inHome, type Surroundings } from "./facets/program.ts";
import { OPTIONS as RYE_OPTIONS } from "./rye/options.ts";

interface Place {
  /** Where sessions are, below the root: one of these directories exists. "": the root itself. */
  readonly under: readonly string[];
  /** A file at the root that must exist. */
  readonly mark?: string;
  /** The default root: a directory in the user's home. Absent: the current directory. */
  readonly usersRoot?: () => string;
  /** Options of `openStore` that only this dialect has. */
  readonly options?: OwnOptions<object>;
  /** Recorded lines may wait in a directory of the store (Inbox). */
  readonly hasInbox?: true;
  /**
   * How rows tell what models used, if that is counted in their bytes (src/usage/scan): in messages
   * of Anthropic's API, or in totals of the session so far. Absent: by the entries.
   */
  readonly usageIn?: "messages" | "totals";
  /** YAML files of a project, below it, that may set the policy on unsigned lines (trust/judge). */
  readonly policyFiles?: readonly string[];
}

/** A program that keeps its own history on this machine, such as Claude Code. */
interface Program extends Place {
  /** As its users call it: "Claude Code". */
  readonly label: string;
  /** The directories where it may keep sessions, whether they exist or not. Absolute paths. */
  roots(surroundings: Surroundings): readonly string[];
}

/** Layouts that a store can write, in the order in which they are listed and searched. */
const WRITTEN = {
  verbatim: { under: [".verbatim/sessions"] },
  rye: {
    under: [".ai/threads"],
    options: RYE_OPTIONS,
    policyFiles: [
      "coordination.yaml",
      ".ai/config/coordination.yaml",
      ".ai/tools/rye/agent/threads/config/coordination.yaml",
    ],
  },
  homeagent: { under: ["agents"], usersRoot: () => `${surroundings().home}/.homeagent` },
  entire: { under: [".entire/metadata"], options: ENTIRE_OPTIONS },
  claude: { under: [".verbatim/claude"], hasInbox: true },
  sdk: { under: [".verbatim/sdk"] },
} satisfies Readonly<Record<string, Place>>;

/** The directory of OpenClaw, and the names that it had before. */
const OPENCLAW_DIRECTORIES = [".openclaw", ".clawdbot", ".moltbot", ".moldbot"];

/** Streams of a server, which are only read as sessions. */
const STREAMS = {
  streams: { under: ["logs"], mark: "meta.jsonl" },
} satisfies Readonly<Record<string, Place>>;

/** Other programs' sessions, which are only read. */
export const PROGRAMS = {
  "claude-code": {
    label: "Claude Code",
    under: ["projects"],
    usageIn: "messages",
    roots({ environment: { CLAUDE_CONFIG_DIR, XDG_CONFIG_HOME }, home }) {
      const given = (CLAUDE_CONFIG_DIR ?? "").split(",").map((path) => path.trim());
      const own = given.filter((path) => path.startsWith("/"));
      if (own.length > 0) return own;
      return [`${home}/.claude`, `${absolute(XDG_CONFIG_HOME) ?? `${home}/.config`}/claude`];
    },
  },
  "gemini-cli": {
    label: "Gemini CLI",
    under: ["tmp"],
    roots: ({ environment: { GEMINI_CLI_HOME }, home }) => [
      `${absolute(GEMINI_CLI_HOME) ?? home}/.gemini`,
    ],
  },
  qwen: {
    label: "Qwen Code",
    under: ["projects"],
    roots: ({ environment: { QWEN_RUNTIME_DIR, QWEN_HOME }, home }) => [
      absolute(QWEN_RUNTIME_DIR) ?? absolute(QWEN_HOME) ?? `${home}/.qwen`,
    ],
  },
  kimi: {
    label: "Kimi Code",
    under: ["sessions"],
    roots: ({ environment: { KIMI_CODE_HOME, KIMI_SHARE_DIR }, home }) => [
      absolute(KIMI_CODE_HOME) ?? `${home}/.kimi-code`,
      absolute(KIMI_SHARE_DIR) ?? `${home}/.kimi`,
    ],
  },
  grok: {
    label: "Grok Build",
    under: ["sessions"],
    roots: ({ environment: { GROK_HOME }, home }) => [absolute(GROK_HOME) ?? `${home}/.grok`],
  },
  antigravity: {
    label: "Antigravity",
    under: ["brain"],
    // The editor, its later name, and the command. Each may exist.
    roots: ({ home }) =>
      ["antigravity", "antigravity-ide", "antigravity-cli"].map(
        (name) => `${home}/.gemini/${name}`,
      ),
  },
  pi: {
    label: "pi",
    under: ["sessions", ""],
    roots({ environment: { PI_CODING_AGENT_DIR, PI_CODING_AGENT_SESSION_DIR }, home }) {
      const sessions = inHome(PI_CODING_AGENT_SESSION_DIR, home);
      const agent = inHome(PI_CODING_AGENT_DIR, home) ?? `${home}/.pi/agent`;
      return [agent, ...(sessions === null ? [] : [sessions])];
    },
  },
  codex: {
    label: "Codex",
    under: ["sessions", "archived_sessions"],
    usageIn: "totals",
    roots: ({ environment: { CODEX_HOME }, home }) => [absolute(CODEX_HOME) ?? `${home}/.codex`],
  },
  opencode: {
    label: "OpenCode",
    under: [""],
    roots({ environment: { OPENCODE_DB, XDG_DATA_HOME }, home }) {
      const own = `${absolute(XDG_DATA_HOME) ?? `${home}/.local/share`}/opencode`;
      const database = absolute(OPENCODE_DB);
      return database === null ? [own] : [own, dirname(database)];
    },
  },
  goose: {
    label: "Goose",
    under: ["sessions"],
    roots({ environment: { GOOSE_PATH_ROOT, XDG_DATA_HOME }, home }) {
      const given = absolute(GOOSE_PATH_ROOT);
      if (given !== null) return [`${given}/data`];
      return [`${absolute(XDG_DATA_HOME) ?? `${home}/.local/share`}/goose`];
    },
  },
  openclaw: {
    label: "OpenClaw",
    under: ["agents"],
    roots({ environment, home }) {
      const { OPENCLAW_STATE_DIR, CLAWDBOT_STATE_DIR, OPENCLAW_HOME } = environment;
      const above = inHome(OPENCLAW_HOME, home) ?? home;
      const given = inHome(OPENCLAW_STATE_DIR, above) ?? inHome(CLAWDBOT_STATE_DIR, above);
      return given === null ? OPENCLAW_DIRECTORIES.map((name) => `${above}/${name}`) : [given];
    },
  },
  "copilot-cli": {
    label: "Copilot CLI",
    under: ["session-state"],
    roots({ environment: { COPILOT_HOME, XDG_STATE_HOME }, home }) {
      const given = inHome(COPILOT_HOME, home);
      if (given !== null) return [given];
      const state = inHome(XDG_STATE_HOME, home);
      return [`${home}/.copilot`, ...(state === null ? [] : [`${state}/.copilot`])];
    },
  },
  droid: {
    label: "Droid",
    under: ["sessions"],
    roots: ({ environment: { FACTORY_HOME_OVERRIDE }, home }) => [
      `${inHome(FACTORY_HOME_OVERRIDE, home) ?? home}/.factory`,
    ],
  },
  cursor: {
    label: "Cursor",
    under: ["projects"],
    roots({ environment: { CURSOR_DATA_DIR }, home }) {
      const given = inHome(CURSOR_DATA_DIR, home);
      return [...(given === null ? [] : [given]), `${home}/.cursor`];
    },
  },
} satisfies Readonly<Record<string, Program>>;

export type WrittenName = keyof typeof WRITTEN;
/** Layouts of sessions: ours, those of other programs that a store writes, and a server's streams. */
export type LayoutName = WrittenName | keyof typeof STREAMS;
/** Agents whose sessions are read in place. */
export type AgentName = keyof typeof PROGRAMS;
export type DialectName = LayoutName | AgentName;

const REGISTRY: Readonly<Record<DialectName, Place>> = { ...WRITTEN, ...STREAMS, ...PROGRAMS };

/** In the order in which they are listed and searched. */
export const READ_DIALECT_NAMES = Object.keys(REGISTRY) as readonly DialectName[];
/** Dialects that a store can write. */
export const DIALECT_NAMES: readonly DialectName[] = Object.keys(WRITTEN) as WrittenName[];

/** The dialect of a store that is opened without one. */
export const DEFAULT_DIALECT = "verbatim" satisfies DialectName;
/** Dialect of the sample sessions that a server without sessions shows. */
export const SAMPLE_DIALECT = "rye" satisfies DialectName;

/** The `policyFiles` of all dialects. */
export const POLICY_FILES: readonly string[] = Object.values(REGISTRY).flatMap(
  ({ policyFiles = [] }) => policyFiles,
);

/** Throws BAD_SETTING for an unknown name. */
export function registryEntry(name: string): Place {
  return REGISTRY[checkedName(name)];
}

/** Throws BAD_SETTING for an unknown name. */
export function checkedName(name: string): DialectName {
  requireChoice("dialect", name, READ_DIALECT_NAMES);
  return name as DialectName;
}

/** The program whose history this is. Null: sessions are written by users of this package. */
export function programOf(name: string): Program | null {
  const place = registryEntry(name);
  return "roots" in place ? (place as Program) : null;
}

/** Whether a store can write it. */
export function isWritten(name: string): boolean {
  return checkedName(name) in WRITTEN;
}

/** As its users call the program; null: sessions are written by users of this package. */
export function labelOf(name: string): string | null {
  return programOf(name)?.label ?? null;
}

function absolute(path: string | undefined): string | null {
  return path?.startsWith("/") ? path : null;
}
