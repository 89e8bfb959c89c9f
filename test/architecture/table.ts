/**
 * The order of the districts, and where outside packages may be used.
 */

/**
 * The folders of `src`: each imports only those before it. AGENTS.md shows the order to people, and a
 * test compares the two.
 */
export const DISTRICTS = [
  "core",
  "client",
  "trust",
  "streams",
  "dialects",
  "sessions",
  "usage",
  "evidence",
  "resume",
  "guard",
  "history",
  "server",
  "integrations",
  "doors",
  "cli",
] as const;

/** What the page in the browser may import of `src`. */
export const VIEWER_IMPORTS: readonly string[] = [
  "src/core/base/",
  "src/core/model/",
  "src/trust/proof/",
  "src/dialects/shared/typed-text.ts",
  "src/dialects/copy-lines.ts",
  "src/dialects/agent-looks.ts",
  "src/sessions/render/",
  "src/client/",
];

/** Code that also runs in a browser: no Node module, neither directly nor through others. */
export const BROWSER_SAFE: readonly string[] = [
  "src/core/model/",
  "src/client/",
  "src/trust/proof/",
  "src/dialects/",
  "src/sessions/render/",
  "viewer/",
];
/**
 * Of these, what reads and writes files, and what puts a dialect together. A reader of an agent has
 * its rows and its files in one place: the page never loads one.
 */
export const NEEDS_NODE: readonly RegExp[] = [
  /^src\/dialects\/[^/]+$/,
  /^src\/dialects\/agents\//,
  /^src\/dialects\/(?:.+\/)?files\//,
  /^src\/dialects\/.+\/(?:sdk-)?dialect\.ts$/,
];

/**
 * Where each outside package may be imported: a file, or a folder when it ends in "/".
 * A package that is not listed may be imported nowhere.
 */
export const PACKAGES: Readonly<Record<string, string>> = {
  "@photostructure/sqlite": "src/core/sqlite/sqlite-driver.ts",
  "@pydantic/genai-prices": "src/usage/prices/price-table.ts",
  zod: "src/dialects/homeagent/schema.ts",
  "eventsource-parser": "src/sessions/capture/sse.ts",
  "@secretlint/secretlint-rule-preset-recommend": "src/evidence/scan/secretlint.ts",
  fzstd: "src/dialects/files/zstd.ts",
  marked: "src/sessions/render/html/",
  diff: "src/sessions/render/html/diff-lines.ts",
  "@standard-schema/spec": "src/integrations/streams/typed-log.ts",
  pg: "src/streams/postgres/",
  "@anthropic-ai/claude-agent-sdk": "src/integrations/",
  "@openai/agents-core": "src/integrations/openai-agents/",
  ai: "src/integrations/",
  "@langchain/core": "src/integrations/langgraph/",
  "@langchain/langgraph-checkpoint": "src/integrations/langgraph/",
  "@modelcontextprotocol/server": "src/integrations/mcp/",
  commander: "src/cli/",
  preact: "viewer/",
  "@preact/signals": "viewer/",
  "@tanstack/virtual-core": "viewer/",
  "highlight.js": "viewer/",
  uplot: "viewer/src/usage/",
  "@noble/hashes": "viewer/",
  "@noble/ciphers": "viewer/",
  vite: "viewer/vite.config.ts",
};

/** The build copies these into the file that uses them, so users need not have them. */
export const COPIED_PACKAGES: readonly string[] = [
  "@secretlint/secretlint-rule-preset-recommend",
  "zod",
];

/** What tests may import in addition to their folder's imports: to run, to generate, to break. */
export const TEST_PACKAGES: readonly string[] = ["vitest", "fast-check"];
export const TEST_FOLDERS: readonly string[] = ["test"];

/**
 * Code over sessions that goes through `src/history`, and imports nothing of the districts that
 * history is made of, except types and what prints.
 */
export const BUILT_ON_HISTORY: readonly string[] = ["src/cli/prove/scan.ts"];
export const BEHIND_HISTORY: readonly string[] = [
  "src/evidence/",
  "src/guard/",
  "src/sessions/list/",
  "src/sessions/search/",
  "src/sessions/store/",
  "src/usage/",
];

/**
 * No names of types and exports: participles that say that something happened, pronouns that say
 * nothing.
 */
export const BARE_NAMES: readonly string[] = [
  "added asked changed chosen closed counted decoded done ended failed following found given gone",
  "heard held judged kept known left listed loaded lost made meant named needed opened parsed read",
  "remembered removed said seen sent shown signed standing stored taken told understood used",
  "waiting wanted written each its mine none one other others ours own such that theirs these this",
  "those what which whom whose",
].flatMap((line) => line.split(" "));

/** Names that do not say what is inside. */
export const EMPTY_NAMES: readonly string[] = ["utils", "helpers", "types", "common"];

export const FILE_LINES_MAX = 400;
export const TEST_LINES_MAX = 500;
/** In `src` and `viewer`, tests not counted: from the first word to the last brace. */
export const FUNCTION_LINES_MAX = 60;
/** Sources directly in one folder below `src`, tests not counted. */
export const FOLDER_FILES_MAX = 30;
export const README_LINES_MAX = 20;

/** Below `src/dialects`: folders of one dialect each, and of the agents. */
export const DIALECT_FOLDERS: readonly string[] = [
  "agents",
  "entire",
  "homeagent",
  "hooks",
  "rye",
  "streams",
  "verbatim",
];
/** Names that code compares a dialect with. */
export const DIALECT_NAMES: readonly string[] = [
  "verbatim",
  "rye",
  "homeagent",
  "entire",
  "claude",
  "sdk",
  "streams",
  "claude-code",
  "gemini-cli",
  "qwen",
  "kimi",
  "grok",
  "antigravity",
  "pi",
  "codex",
  "opencode",
  "goose",
  "openclaw",
  "copilot-cli",
  "droid",
  "cursor",
];
/** Which code may name a dialect, and why. All other code works through the `Dialect` interface. */
export const NAMES_DIALECTS: Readonly<Record<string, string>> = {
  "src/dialects/": "their own folders, and the list of them",
  "src/doors/": "entry points of the package, one for each document",
  "src/cli/main.ts": "the command's entry point: hooks must load nothing else",
  "src/cli/record/": "the commands and options of single dialects",
  "src/integrations/": "entry points for frameworks and documents, each with its own dialect",
  "src/trust/proof/": "the signing format's envelopes and its version 1 profile",
};

/** Words that only one program or document writes: code that has one knows its format. */
export const DIALECT_WORDS: readonly string[] = [
  "parentUuid",
  "isSidechain",
  "toolUseResult",
  "system-reminder",
  "local-command",
  "user_query",
  "USER_REQUEST",
  "My request for",
  "session_meta",
  "parent_thread_id",
  "thread_start",
  "thread.json",
  "coordination.yaml",
  ".ai/threads",
  ".homeagent",
  ".entire/",
  "prompt.txt",
];
/** Which code may have such a word besides `NAMES_DIALECTS`, and why. */
export const HAS_DIALECT_WORDS: Readonly<Record<string, string>> = {
  "src/cli/": "texts for users, who know their files by name",
  "src/resume/advice.ts": "the same, for findings about one file",
  "src/resume/handoff/member-names.ts": "the format of bundles names its members",
  "src/usage/scan/": "counts bytes without decoding them; the registry says whose (usageIn)",
};
