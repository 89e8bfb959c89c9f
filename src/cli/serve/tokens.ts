/** `verbatim server token`: manages access tokens of the server. */

import { dirname, resolve } from "node:path";
import { momentOf } from "../../core/base/choice.ts";
import type { TokenEntry, TokenScope } from "../../server/auth/tokens.ts";
import {
  type CliCommand,
  type CommandGroup,
  type Run,
  textOption,
  UsageError,
} from "../command/command.ts";
import { DATA_OPTION } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { printList, type TableColumn } from "../command/table.ts";

const create: CliCommand = {
  name: "create",
  summary: "Create a token and print it once; a running server accepts it at once",
  options: [
    {
      flags: "--scope <scopes>",
      summary: "comma-separated scopes: read, append, admin (includes all)",
      default: "read,append",
    },
    {
      flags: "--path <globs>",
      summary: "comma-separated stream paths: * is one segment, ** any number",
      default: "**",
    },
    { flags: "--name <text>", summary: "name for the token", default: "" },
    { flags: "--expires <when>", summary: "30d, 12h, 15m, or a time: 2027-01-31T00:00:00Z" },
    DATA_OPTION,
    { flags: "--json", summary: "print JSON" },
  ],
  examples: [
    "verbatim server token create --name laptop",
    "verbatim server token create --scope read --path 'chat/**' --expires 30d",
    'curl -H "Authorization: Bearer $TOKEN" https://streams.example.com/v1/stream/chat/1',
  ],

  async run({ options, io }) {
    const name = typeof options.name === "string" ? options.name : "";
    const { createToken, host, path, nameFault } = await parts(options);
    const fault = nameFault(name);
    if (fault !== null) throw new UsageError(`--name is refused: ${fault}`);
    const nowMs = Date.now();
    const request = {
      name,
      scopes: await scopesOf(textOption("--scope", options.scope) ?? ""),
      paths: await globsOf(textOption("--path", options.path) ?? ""),
      expiresAtMs: expiryOf(textOption("--expires", options.expires), nowMs),
    };
    const { token, entry } = await createToken(host, path, request, nowMs);
    if (options.json) {
      await io.print(jsonLine({ token, ...jsonOf(entry, "valid") }));
    } else {
      io.err(`token ${entry.id}: ${entry.scopes.join(", ")} for ${entry.paths.join(", ")}`);
      io.err(`it is not stored: copy it now; it is for a server with --data ${dirname(path)}`);
      io.out(token);
    }
    return 0;
  },
};

const list: CliCommand = {
  name: "ls",
  summary: "List the tokens by id; the tokens themselves are not stored",
  options: [DATA_OPTION, { flags: "--json", summary: "print one JSON object per token" }],
  examples: ["verbatim server token ls", "verbatim server token ls --json | jq -r .id"],

  async run(run) {
    const { readTokenFile, tokenState, path } = await parts(run.options);
    const nowMs = Date.now();
    const entries = readTokenFile(path);
    if (entries.length === 0) run.io.err(`no tokens in ${path}`);
    await printList(run, entries, {
      json: (entry) => jsonOf(entry, tokenState(entry, nowMs)),
      columns: COLUMNS,
      row: (entry) => rowOf(entry, tokenState(entry, nowMs)),
    });
    return 0;
  },
};

const revoke: CliCommand = {
  name: "revoke",
  summary: "Revoke a token for good; a running server refuses it within a second",
  args: [{ name: "<id>", summary: "as `verbatim server token ls` shows it" }],
  options: [DATA_OPTION, { flags: "--json", summary: "print JSON" }],
  examples: ["verbatim server token revoke 3f9a1c07"],

  async run({ args, options, io }) {
    const { revokeToken, host, path } = await parts(options);
    const nowMs = Date.now();
    const entry = await revokeToken(host, path, args[0] ?? "", nowMs);
    if (options.json) await io.print(jsonLine(jsonOf(entry, "revoked")));
    else io.err(`revoked: ${entry.id} (since ${entry.revokedAt})`);
    return 0;
  },
};

export const token: CommandGroup = {
  name: "token",
  summary: "Manage the server's access tokens",
  commands: [create, list, revoke],
};

/** Not loaded to print help (C1). */
async function parts(options: Run["options"]) {
  const { dataDirectory } = await import("../../core/base/node-paths.ts");
  const { nodeHost: host } = await import("../../core/base/node-host.ts");
  const tokens = await import("../../server/auth/tokens.ts");
  const directory = resolve(textOption("--data", options.data) ?? dataDirectory());
  const path = tokens.tokenFilePath(directory);
  return { ...tokens, host, path };
}

async function scopesOf(text: string): Promise<readonly TokenScope[]> {
  const { SCOPES } = await import("../../server/auth/tokens.ts");
  const asked = new Set(text.split(",").map((each) => each.trim()));
  for (const each of asked) {
    if (SCOPES.includes(each as TokenScope)) continue;
    throw new UsageError(`--scope takes ${SCOPES.join(", ")}, comma-separated, not ${each}`);
  }
  return SCOPES.filter((scope) => asked.has(scope));
}

async function globsOf(text: string): Promise<readonly string[]> {
  const { globFault } = await import("../../streams/subscriptions/glob.ts");
  return text.split(",").map((each) => {
    const glob = each.trim().replace(/^\//, "");
    const fault = globFault(glob);
    if (fault === null) return glob;
    throw new UsageError(`--path takes globs such as chat/*, not ${each}: ${fault}`);
  });
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** When something expires that `--expires` names; null: never. */
export function expiryOf(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const at = unit ? nowMs + Number(count) * (UNIT_MS[unit] ?? 0) : timeOf(text);
  if (at > nowMs) return at;
  throw new UsageError(`--expires takes 30d, 12h, 15m or a time in the future, not ${text}`);
}

function timeOf(text: string): number {
  return TIME.test(text) ? momentOf(text) : Number.NaN;
}

const COLUMNS: readonly TableColumn[] = [
  { heading: "ID" },
  { heading: "NAME", widthMin: 8 },
  { heading: "SCOPES" },
  { heading: "PATHS", widthMin: 8 },
  { heading: "CREATED" },
  { heading: "STATE" },
];

function rowOf(entry: TokenEntry, state: string): string[] {
  const { id, name, scopes, paths, createdAt, expiresAt, revokedAt } = entry;
  const since = state === "revoked" ? revokedAt : expiresAt && `until ${expiresAt}`;
  const told = [state, since].filter(Boolean).join(" ");
  return [id, name, scopes.join(", "), paths.join(", "), createdAt, told];
}

/** Every field is present, or null. */
function jsonOf(entry: TokenEntry, state: string) {
  const { id, name, scopes, paths, createdAt, expiresAt = null, revokedAt = null } = entry;
  return { id, name, scopes, paths, createdAt, expiresAt, revokedAt, state };
}
