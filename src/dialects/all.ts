/**
 * All: the list of dialects. The only code outside the dialects' own folders that names them
 * (test/architecture). To add one: docs/adding-a-dialect.md.
 */

import { requireChoice } from "../base/choice.ts";
import type { Host } from "../base/host.ts";
import type { FindOptions } from "../catalog/find.ts";
import { antigravity } from "./antigravity/dialect.ts";
import { claude } from "./claude/dialect.ts";
import { claudeCode } from "./claude-code/dialect.ts";
import { codex } from "./codex/dialect.ts";
import { copilotCli } from "./copilot-cli/dialect.ts";
import { cursor } from "./cursor/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { droid } from "./droid/dialect.ts";
import { entire } from "./entire/dialect.ts";
import type { EntireOptions } from "./entire/options.ts";
import { guardedPlace } from "./files/guard-store.ts";
import { goneLog, goneLogs, guardedHost, lookAtFile } from "./files/guarded.ts";
import { isRowsRoot, rowsHost, rowsLogs } from "./files/received-rows.ts";
import { geminiCli } from "./gemini-cli/dialect.ts";
import { goose } from "./goose/dialect.ts";
import { grok } from "./grok/dialect.ts";
import { homeagent } from "./homeagent/dialect.ts";
import { kimi } from "./kimi/dialect.ts";
import { openclaw } from "./openclaw/dialect.ts";
import { opencode } from "./opencode/dialect.ts";
import { pi } from "./pi/dialect.ts";
import { qwen } from "./qwen/dialect.ts";
import { rye } from "./rye/dialect.ts";
import type { RyeOptions } from "./rye/options.ts";
import { sdk } from "./sdk/dialect.ts";
import { streams } from "./streams/dialect.ts";
import { verbatim } from "./verbatim/dialect.ts";

/** In the order in which they are listed and searched. */
const ALL = [
  ...[verbatim, rye, homeagent, entire, claude, sdk, streams],
  // Other programs' sessions, which are only read.
  ...[claudeCode, geminiCli, qwen, kimi, grok, antigravity],
  ...[pi],
  ...[codex],
  ...[opencode, goose],
  ...[openclaw, copilotCli, droid, cursor],
] as const;

export type DialectName = (typeof ALL)[number]["name"];

/** Options of `openStore` that only one dialect has. */
export interface OptionsOf extends Record<DialectName, object> {
  readonly rye: RyeOptions;
  readonly entire: EntireOptions;
}
/** Options of all dialects. */
export interface AllOptions extends RyeOptions, EntireOptions {}

/** The dialect of a store that is opened without one. */
export const DEFAULT_DIALECT: DialectName = verbatim.name;

/** Dialect of the sample sessions that a server without sessions shows. */
export const SAMPLE_DIALECT: DialectName = rye.name;

/** Dialects whose lines identify the file's format, most specific first. */
export const RECOGNISED: readonly Dialect<DialectName>[] = [
  ...[codex],
  ...[pi],
  ...[copilotCli, droid, cursor],
  ...[geminiCli, qwen, kimi, grok, antigravity],
  ...[homeagent, verbatim, sdk, rye, entire],
];

const BY_NAME: ReadonlyMap<string, Dialect<DialectName>> = new Map(
  ALL.map((each) => [each.name, guardable(each)]),
);

/** Lists the guard's copies of sessions, here or received, like those of the program's own. */
function guardable(dialect: Dialect<DialectName>): Dialect<DialectName> {
  if (!dialect.program) return dialect;
  const logsIn = (root: string, options: FindOptions) => {
    if (isRowsRoot(root, dialect)) return rowsLogs(root, dialect);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.layout.logsIn?.(root, options) ?? null)
      : goneLogs(place, dialect);
  };
  const lookAt = (root: string, path: string) => {
    if (isRowsRoot(root, dialect)) return lookAtFile(root, path);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.layout.lookAt ?? lookAtFile)(root, path)
      : goneLog(place, path);
  };
  return { ...dialect, layout: { ...dialect.layout, logsIn, lookAt } };
}

export const READ_DIALECT_NAMES: readonly DialectName[] = ALL.map(({ name }) => name);
/** Dialects that a store can write. */
export const DIALECT_NAMES: readonly DialectName[] = READ_DIALECT_NAMES.filter(
  (name) => !dialectNamed(name).isReadOnly,
);

/** The host that a store of this dialect reads and writes through. */
export function hostOf(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
): Host {
  const named = dialectNamed(dialect);
  const place = named.program ? guardedPlace(root) : null;
  if (place !== null) return guardedHost(host, place, named);
  if (isRowsRoot(root, named)) return rowsHost(host, root, named);
  return named.hostFor?.(host, root) ?? host;
}

/** Throws BAD_SETTING for an unknown name. */
export function dialectNamed(name: string): Dialect<DialectName> {
  const found = BY_NAME.get(name);
  if (found) return found;
  requireChoice("dialect", name, READ_DIALECT_NAMES);
  throw new Error("a name that is listed has a dialect");
}
