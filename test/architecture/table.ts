/**
 * The import table: who may import whom, and where outside packages may be used.
 *
 * AGENTS.md holds a copy for people, which a test compares with this one: change them together.
 * Folders that do not exist yet are listed too, so that each finds its place when it comes.
 */

export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ["base"],
  proof: ["base"],
  client: ["base", "model"],
  log: ["base"],
  signing: ["base", "log", "proof"],
  dialects: ["base", "model", "proof"],
  catalog: ["base", "model"],
  capture: ["base", "model"],
  render: ["base", "model"],
  usage: ["base", "model"],
  store: ["base", "model", "log", "proof", "signing", "dialects", "catalog", "streams"],
  resume: ["base", "model", "proof", "signing", "store", "render", "usage"],
  streams: ["base", "log", "proof", "signing", "catalog"],
  postgres: ["base", "streams"],
  guard: ["base", "model", "dialects", "store", "catalog", "usage"],
  integrations: [
    "base",
    "model",
    "dialects",
    "render",
    "catalog",
    "store",
    "resume",
    "capture",
    "client",
  ],
  server: [
    "base",
    "model",
    "proof",
    "signing",
    "render",
    "usage",
    "catalog",
    "store",
    "resume",
    "streams",
  ],
  torture: ["base", "log", "signing", "store", "streams"],
  viewer: ["base", "model", "proof", "render", "client"],
};

/** Where the parts are put together: these may import every folder of the table but the viewer. */
export const ASSEMBLY = ["cli", "doors"] as const;

/** Code that also runs in a browser: no Node module, neither directly nor through others. */
export const BROWSER_SAFE: readonly string[] = ["model", "proof", "render", "client", "viewer"];

/**
 * Where each outside package may be imported: a file, or a folder when it ends in "/".
 * A package that is not listed may be imported nowhere.
 */
export const PACKAGES: Readonly<Record<string, string>> = {
  "fs-native-extensions": "src/base/lock.ts",
  "@photostructure/sqlite": "src/catalog/sqlite.ts",
  zod: "src/dialects/homeagent/schema.ts",
  "eventsource-parser": "src/capture/sse.ts",
  marked: "src/render/html/",
  "@standard-schema/spec": "src/streams/typed-log.ts",
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
  vite: "viewer/vite.config.ts",
};

/** What tests may import on top of what their folder may: to run, to generate, to break. */
export const TEST_PACKAGES: readonly string[] = ["vitest", "fast-check"];
export const TEST_FOLDERS: readonly string[] = ["torture", "test"];

/** Names that say nothing about what is inside. */
export const EMPTY_NAMES: readonly string[] = ["utils", "helpers", "types", "common"];

export const FILE_LINES_MAX = 500;
export const README_LINES_MAX = 20;
