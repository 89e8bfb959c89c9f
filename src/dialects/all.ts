/**
 * All: loads the dialects of the registry by name. Each is code that reads or writes one layout; a
 * process needs few of them. The only code outside the dialects' own folders that names them, with
 * registry.ts (test/architecture).
 *
 * Where sessions are opened or listed, `loadDialects` is called; all code below asks `dialectNamed`.
 */

import type { Host } from "../core/base/host.ts";
import type { Dialect } from "./dialect.ts";
import type { EntireOptions } from "./entire/options.ts";
import { type AgentName, checkedName, type DialectName, READ_DIALECT_NAMES } from "./registry.ts";
import type { RyeOptions } from "./rye/options.ts";
import { verbatim } from "./verbatim/dialect.ts";

/** Options of `openStore` that only one dialect has. */
export interface DialectOptions extends Record<DialectName, object> {
  readonly rye: RyeOptions;
  readonly entire: EntireOptions;
}
/** Options of all dialects. */
export interface AllOptions extends RyeOptions, EntireOptions {}

type Loader = () => Promise<Dialect<DialectName>>;

const PROGRAM_LOADERS: Readonly<Record<AgentName, Loader>> = {
  "claude-code": async () => (await import("./agents/claude-code.ts")).claudeCode,
  "gemini-cli": async () => (await import("./agents/gemini-cli/dialect.ts")).geminiCli,
  qwen: async () => (await import("./agents/qwen.ts")).qwen,
  kimi: async () => (await import("./agents/kimi.ts")).kimi,
  grok: async () => (await import("./agents/grok.ts")).grok,
  antigravity: async () => (await import("./agents/antigravity.ts")).antigravity,
  pi: async () => (await import("./agents/pi.ts")).pi,
  codex: async () => (await import("./agents/codex/dialect.ts")).codex,
  opencode: async () => (await import("./agents/opencode/dialect.ts")).opencode,
  goose: async () => (await import("./agents/goose.ts")).goose,
  openclaw: async () => (await import("./agents/openclaw.ts")).openclaw,
  "copilot-cli": async () => (await import("./agents/copilot-cli/dialect.ts")).copilotCli,
  droid: async () => (await import("./agents/droid.ts")).droid,
  cursor: async () => (await import("./agents/cursor.ts")).cursor,
};

const LOADERS: Readonly<Record<DialectName, Loader>> = {
  verbatim: async () => verbatim,
  rye: async () => (await import("./rye/dialect.ts")).rye,
  homeagent: async () => (await import("./homeagent/dialect.ts")).homeagent,
  entire: async () => (await import("./entire/dialect.ts")).entire,
  claude: async () => (await import("./hooks/dialect.ts")).claude,
  sdk: async () => (await import("./verbatim/sdk-dialect.ts")).sdk,
  streams: async () => (await import("./streams/dialect.ts")).streams,
  ...PROGRAM_LOADERS,
};

/** Dialects whose lines identify the file's format, most specific first. */
const RECOGNISED: readonly DialectName[] = [
  "codex",
  "pi",
  "copilot-cli",
  "droid",
  "cursor",
  "gemini-cli",
  "qwen",
  "kimi",
  "grok",
  "antigravity",
  "homeagent",
  "verbatim",
  "sdk",
  "rye",
  "entire",
];

/** Our own layout is there from the start: it is the default, and small. */
const LOADED = new Map<string, Dialect<DialectName>>([[verbatim.name, verbatim]]);

/** Makes dialects ready for `dialectNamed`; default: all. Throws BAD_SETTING for an unknown name. */
export async function loadDialects(names: readonly string[] = READ_DIALECT_NAMES): Promise<void> {
  const missing = new Set(names.filter((name) => !LOADED.has(name)));
  await Promise.all(Array.from(missing, (name) => load(checkedName(name))));
}

async function load(name: DialectName): Promise<void> {
  const dialect = await LOADERS[name]();
  // What only these need: presenting the guard's copies as their sessions.
  const guarding = dialect.program ? await import("./files/guarded.ts") : null;
  LOADED.set(name, guarding?.withGuarded(dialect) ?? dialect);
}

/** For code that is of one dialect and has loaded it itself. Returns its name. */
export function provideDialect<Name extends DialectName>(dialect: Dialect<Name>): Name {
  if (!LOADED.has(dialect.name)) LOADED.set(dialect.name, dialect);
  return dialect.name;
}

/** Throws BAD_SETTING for an unknown name. */
export function dialectNamed(name: string): Dialect<DialectName> {
  const dialect = LOADED.get(name);
  if (dialect) return dialect;
  throw new Error(`the dialect ${checkedName(name)} is not loaded: call loadDialects first`);
}

/** The dialects that a file may be of by its lines, most specific first. */
export async function recognisedDialects(): Promise<readonly Dialect<DialectName>[]> {
  await loadDialects(RECOGNISED);
  return RECOGNISED.map(dialectNamed);
}

/** The host that a store of this dialect reads and writes through. */
export function hostOf(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
): Host {
  return dialectNamed(dialect).files?.hostFor?.(host, root) ?? host;
}
