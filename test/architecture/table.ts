/**
 * The import table: which folder may import which, and where outside packages may be used.
 *
 * AGENTS.md has a copy for people, which a test compares with this one: change them together.
 * Folders that do not exist yet are listed too.
 */

/** What parts above the log build on. */
const LOW = ["base", "model", "log", "proof", "signing", "catalog"] as const;
/** A dialect as a whole, and its parts. */
const DIALECTS = ["dialects", "dialects/interface", "dialects/lines", "dialects/files"] as const;

export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  base: [],
  findings: ["base"],
  prices: ["base"],
  model: ["base"],
  proof: ["base"],
  log: ["base"],
  client: ["base", "model"],
  catalog: ["base", "model"],
  capture: ["base", "model"],
  render: ["base", "model"],
  command: ["base", "render"],
  signing: ["base", "model", "log", "proof", "dialects/interface"],
  streams: ["base", "log", "proof", "signing", "catalog"],
  subscriptions: ["base", "signing", "streams"],
  copying: ["base", "log", "signing", "streams"],
  tokens: ["base", "signing", "streams", "subscriptions"],
  "dialects/interface": [...LOW, "findings"],
  "dialects/lines": ["base", "model", "proof", "dialects/interface"],
  "dialects/files": [...LOW, "findings", "dialects/interface", "dialects/lines", "streams"],
  dialects: [...LOW, "dialects/interface", "dialects/lines", "dialects/files", "streams"],
  store: [...LOW, ...DIALECTS, "streams"],
  listing: [...LOW, ...DIALECTS, "streams", "store"],
  usage: ["base", "model", "client", "prices", "catalog", ...DIALECTS, "store", "listing"],
  verifying: [...LOW, ...DIALECTS, "streams", "store", "listing"],
  scan: [...LOW, ...DIALECTS, "streams", "store", "listing"],
  witness: ["base", "log", "proof", "signing"],
  disclosure: [...LOW, ...DIALECTS, "streams", "store", "listing", "verifying", "scan"],
  proving: [
    ...[...LOW, ...DIALECTS, "streams", "store", "listing", "verifying", "scan", "disclosure"],
  ],
  share: [
    ...["client", "postgres"],
    ...[...LOW, ...DIALECTS, "streams", "store", "listing", "verifying", "scan", "disclosure"],
  ],
  doctor: [...LOW, ...DIALECTS, "findings", "streams", "store", "listing", "verifying"],
  erase: [
    ...[...LOW, ...DIALECTS, "findings", "streams", "store", "listing", "verifying", "scan"],
    ...["disclosure", "proving", "doctor"],
  ],
  "dialects/door": [
    ...LOW,
    ...DIALECTS,
    "command",
    "render",
    "streams",
    "store",
    "listing",
    "verifying",
  ],
  resume: [
    ...[...LOW, ...DIALECTS, "findings", "render", "usage", "streams", "store", "listing"],
    ...["verifying", "doctor"],
  ],
  demo: ["base", "model", ...DIALECTS, "catalog", "store", "listing"],
  postgres: ["base", "findings", "proof", "signing", "streams", "copying"],
  guard: [...LOW, ...DIALECTS],
  remote: [...LOW, ...DIALECTS, "streams", "store", "listing"],
  integrations: [
    ...["base", "model", ...DIALECTS, "render", "catalog", "store", "listing", "verifying"],
    ...["resume", "capture", "client"],
  ],
  server: [
    ...["base", "model", "proof", ...DIALECTS, "signing", "render", "usage", "catalog", "store"],
    ...["listing", "verifying", "resume", "streams", "subscriptions", "client", "demo", "postgres"],
    ...["remote", "tokens", "witness", "share"],
  ],
  torture: ["base", "log", "proof", "dialects", "signing", "store", "streams", "verifying"],
  viewer: ["base", "model", "proof", "render", "client"],
};

/** Files directly in `src/dialects` that are not pure lines. */
export const DIALECT_PARTS: Readonly<Record<string, string>> = {
  "dialect.ts": "dialects/interface",
  "agent-program.ts": "dialects/interface",
  "result-view.ts": "dialects/interface",
  "subagents.ts": "dialects/interface",
  "path-ids.ts": "dialects/interface",
  "reader.ts": "dialects",
  "dialect-files.ts": "dialects/interface",
  "derived-files.ts": "dialects/interface",
  "native.ts": "dialects/interface",
  "tool-table.ts": "dialects/interface",
  "recording.ts": "dialects/interface",
  "all.ts": "dialects",
  "origin.ts": "dialects",
  "commands.ts": "dialects/door",
};

/** Where the parts are assembled: these may import every folder of the table except the viewer. */
export const ASSEMBLY = ["cli", "doors"] as const;

/** Code that also runs in a browser: no Node module, neither directly nor through others. */
export const BROWSER_SAFE: readonly string[] = [
  ...["model", "proof", "render", "client", "viewer", "dialects/lines"],
];

/**
 * Where each outside package may be imported: a file, or a folder when it ends in "/".
 * A package that is not listed may be imported nowhere.
 */
export const PACKAGES: Readonly<Record<string, string>> = {
  "fs-native-extensions": "src/base/lock.ts",
  "@photostructure/sqlite": "src/catalog/sqlite-driver.ts",
  "@pydantic/genai-prices": "src/prices/price-table.ts",
  zod: "src/dialects/homeagent/schema.ts",
  "eventsource-parser": "src/capture/sse.ts",
  "@secretlint/secretlint-rule-preset-recommend": "src/scan/secretlint.ts",
  fzstd: "src/dialects/codex/files/zstd.ts",
  marked: "src/render/html/",
  diff: "src/render/html/diff-lines.ts",
  "@standard-schema/spec": "src/dialects/streams/door/typed-log.ts",
  pg: "src/postgres/",
  "@anthropic-ai/claude-agent-sdk": "src/integrations/",
  "@openai/agents-core": "src/integrations/openai-agents/",
  ai: "src/integrations/",
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

/** What tests may import in addition to their folder's imports: to run, to generate, to break. */
export const TEST_PACKAGES: readonly string[] = ["vitest", "fast-check"];
export const TEST_FOLDERS: readonly string[] = ["torture", "test"];

/** Names that do not say what is inside. */
export const EMPTY_NAMES: readonly string[] = ["utils", "helpers", "types", "common"];

export const FILE_LINES_MAX = 500;
/** Sources directly in one folder below `src`, tests not counted. */
export const FOLDER_FILES_MAX = 30;
export const README_LINES_MAX = 20;

export const DIALECT_FOLDERS: readonly string[] = [
  ...["verbatim", "rye", "homeagent", "entire", "claude", "sdk", "streams", "claude-code"],
  ...["gemini-cli", "qwen", "kimi", "grok", "antigravity"],
  ...["pi"],
  ...["codex"],
  ...["opencode", "goose"],
  ...["openclaw", "copilot-cli", "droid", "cursor"],
];
/** Which code may name a dialect, and why. All other code works through the `Dialect` interface. */
export const NAMES_DIALECTS: Readonly<Record<string, string>> = {
  "src/dialects/": "their own folders, and the lists all.ts and commands.ts",
  "src/*": "entry points of the package, one for each document",
  "src/cli/main.ts": "the command's entry point: hooks must load nothing else",
  "src/integrations/": "entry points for frameworks, each with its own dialect",
  "src/proof/": "the signing format's envelopes and its version 1 profile",
};
