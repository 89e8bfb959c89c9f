/** `verbatim server token`: manages access tokens of the server. */

import { resolve } from "node:path";
import type { TokenItem } from "../../client/token-shapes.ts";
import { momentOf } from "../../core/base/choice.ts";
import type { NewToken, TokenLimits, TokenList, TokenScope } from "../../server/auth/tokens.ts";
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

const STORE_OPTION = {
  flags: "--store <url>",
  summary: "the server's database instead, for all servers on it: postgres://user@host/database",
};
const PLACE_OPTIONS = [DATA_OPTION, STORE_OPTION];

const create: CliCommand = {
  name: "create",
  summary: "Create a token and print it once; a running server accepts it at once",
  options: [
    {
      flags: "--scope <scopes>",
      summary:
        "comma-separated scopes: read, append, entries, admin (includes these), usage (only " +
        "sums), tokens (manages tokens)",
      default: "read,append",
    },
    {
      flags: "--path <globs>",
      summary: "comma-separated stream paths: * is one segment, ** any number",
      default: "**",
    },
    { flags: "--machine <name>", summary: "only sessions that this machine sends, to any folder" },
    { flags: "--project <name>", summary: "only sessions of this project; for read and usage" },
    {
      flags: "--limits <limits>",
      summary:
        "comma-separated: requestsPerSecond=50, bytesPerSecond, streams, storedBytes, readers; " +
        "default: none",
    },
    { flags: "--name <text>", summary: "name for the token", default: "" },
    { flags: "--expires <when>", summary: "30d, 12h, 15m, or a time: 2027-01-31T00:00:00Z" },
    ...PLACE_OPTIONS,
    { flags: "--json", summary: "print JSON" },
  ],
  examples: [
    "verbatim server token create --name laptop",
    "verbatim server token create --name desk --machine desk --limits storedBytes=10737418240",
    "verbatim server token create --scope read --project acme/app",
    "verbatim server token create --scope admin,tokens --store postgres://verbatim@db/streams",
    "verbatim server token create --scope read --path 'chat/**' --expires 30d",
    'curl -H "Authorization: Bearer $TOKEN" https://streams.example.com/v1/stream/chat/1',
  ],

  async run({ options, io }) {
    const name = typeof options.name === "string" ? options.name : "";
    const { nameFault, createToken } = await import("../../server/auth/tokens.ts");
    const fault = nameFault(name);
    if (fault !== null) throw new UsageError(`--name is refused: ${fault}`);
    const nowMs = Date.now();
    const scopes = await scopesOf(textOption("--scope", options.scope) ?? "");
    const request = {
      name,
      scopes,
      paths: await pathsOf(options),
      project: await projectOf(textOption("--project", options.project), scopes),
      limits: await limitsOf(textOption("--limits", options.limits)),
      expiresAtMs: expiryOf(textOption("--expires", options.expires), nowMs),
    };
    return withTokens(options, async (list) => {
      return printNew(await createToken(list, request, nowMs), list, options, io);
    });
  },
};

const ID = { name: "<id>", summary: "as `verbatim server token ls` shows it" };

const list: CliCommand = {
  name: "ls",
  summary: "List the tokens by id; the tokens themselves are not stored",
  options: [...PLACE_OPTIONS, { flags: "--json", summary: "print one JSON object per token" }],
  examples: ["verbatim server token ls", "verbatim server token ls --json | jq -r .id"],

  async run(run) {
    const { tokenItem } = await import("../../server/auth/tokens.ts");
    const nowMs = Date.now();
    return withTokens(run.options, async (tokens) => {
      const items = (await tokens.entries()).map((entry) => tokenItem(entry, nowMs));
      if (items.length === 0) run.io.err(`no tokens in ${tokens.place}`);
      await printList(run, items, { json: (item) => item, columns: COLUMNS, row: rowOf });
      return 0;
    });
  },
};

const revoke: CliCommand = {
  name: "revoke",
  summary: "Revoke a token for good; running servers refuse it within two seconds",
  args: [ID],
  options: [...PLACE_OPTIONS, { flags: "--json", summary: "print JSON" }],
  examples: [
    "verbatim server token revoke 3f9a1c07",
    "verbatim server token revoke 3f9a1c07 --store postgres://verbatim@db/streams",
  ],

  async run({ args, options, io }) {
    const { revokeToken, tokenItem } = await import("../../server/auth/tokens.ts");
    const nowMs = Date.now();
    return withTokens(options, async (list) => {
      const entry = await revokeToken(list, args[0] ?? "", nowMs);
      if (options.json) await io.print(jsonLine(tokenItem(entry, nowMs)));
      else io.err(`revoked: ${entry.id} (since ${entry.revokedAt})`);
      return 0;
    });
  },
};

const rotate: CliCommand = {
  name: "rotate",
  summary: "Replace a token with a new one of the same permissions, and print that once",
  args: [ID],
  options: [
    {
      flags: "--grace <time>",
      summary: "how long the old one stays valid, such as 1h; default: 0",
    },
    ...PLACE_OPTIONS,
    { flags: "--json", summary: "print JSON" },
  ],
  examples: [
    "verbatim server token rotate 3f9a1c07",
    "verbatim server token rotate 3f9a1c07 --grace 1h",
  ],

  async run({ args, options, io }) {
    const { rotateToken } = await import("../../server/auth/tokens.ts");
    const nowMs = Date.now();
    const grace = textOption("--grace", options.grace);
    const graceMs = grace === undefined ? 0 : spanOf(grace);
    if (graceMs === null) throw new UsageError(`--grace takes 30d, 12h or 15m, not ${grace}`);
    return withTokens(options, async (list) => {
      return printNew(await rotateToken(list, args[0] ?? "", graceMs, nowMs), list, options, io);
    });
  },
};

export const token: CommandGroup = {
  name: "token",
  summary: "Manage the server's access tokens",
  commands: [create, list, rotate, revoke],
};

/** Not loaded to print help (C1). */
async function withTokens(
  options: Run["options"],
  work: (list: TokenList) => Promise<number>,
): Promise<number> {
  const store = textOption("--store", options.store);
  const data = textOption("--data", options.data);
  if (store !== undefined && data !== undefined) {
    throw new UsageError("tokens are in --store or in --data, not in both");
  }
  if (store === undefined) {
    const { dataDirectory } = await import("../../core/base/node-paths.ts");
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const { tokenFile, tokenFilePath } = await import("../../server/auth/tokens.ts");
    return work(tokenFile(nodeHost, tokenFilePath(resolve(data ?? dataDirectory()))));
  }
  const { databaseUrl } = await import("./copies.ts");
  const { TokenTables } = await import("../../server/auth/token-tables.ts");
  const tables = await TokenTables.open(databaseUrl("--store", store));
  try {
    return await work(tables);
  } finally {
    await tables.close();
  }
}

async function printNew(
  { token, entry }: NewToken,
  { place }: TokenList,
  options: Run["options"],
  io: Run["io"],
): Promise<number> {
  if (options.json) {
    const { tokenItem } = await import("../../server/auth/tokens.ts");
    await io.print(jsonLine({ token, ...tokenItem(entry, Date.now()) }));
    return 0;
  }
  const { id, scopes, paths, project } = entry;
  const of = project === undefined ? "" : `, sessions of ${project} only`;
  io.err(`token ${id}: ${scopes.join(", ")} for ${paths.join(", ")}${of}`);
  io.err(`it is not stored: copy it now; it is for a server that uses ${place}`);
  io.out(token);
  return 0;
}

/** `--path`, or the paths of `--machine`. */
async function pathsOf({ machine, path }: Run["options"]): Promise<readonly string[]> {
  const name = textOption("--machine", machine);
  const globs = textOption("--path", path) ?? "**";
  if (name === undefined) return globsOf(globs);
  if (globs !== "**") throw new UsageError("--machine is another way to say --path; give one");
  const paths = (await import("../../server/auth/tokens.ts")).machinePaths(name);
  if (paths !== null) return paths;
  throw new UsageError(`--machine takes letters, digits, _, - and ., not ${name}`);
}

async function projectOf(
  project: string | undefined,
  scopes: readonly TokenScope[],
): Promise<string | undefined> {
  if (project === undefined) return undefined;
  const { PROJECT_SCOPES, projectFault } = await import("../../server/auth/tokens.ts");
  const fault = projectFault(project);
  if (fault !== null) throw new UsageError(`--project is refused: ${fault}`);
  if (scopes.every((each) => PROJECT_SCOPES.includes(each))) return project;
  throw new UsageError(`--project needs --scope ${PROJECT_SCOPES.join(" or ")}`);
}

/** `requestsPerSecond=50,readers=10` */
async function limitsOf(text: string | undefined): Promise<TokenLimits | undefined> {
  if (text === undefined) return undefined;
  const pairs = text.split(",").map((each) => each.trim().split("="));
  const limits = Object.fromEntries(pairs.map(([name = "", max]) => [name, Number(max)]));
  const fault = (await import("../../server/auth/tokens.ts")).limitsFault(limits);
  if (fault !== null) throw new UsageError(`--limits is refused: ${fault}`);
  return limits;
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
  const span = spanOf(text);
  const at = span === null ? timeOf(text) : nowMs + span;
  if (at > nowMs) return at;
  throw new UsageError(`--expires takes 30d, 12h, 15m or a time in the future, not ${text}`);
}

/** Milliseconds; null: it is no span. */
function spanOf(text: string): number | null {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNIT_MS[unit] ?? 0);
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

function rowOf(item: TokenItem): string[] {
  const { id, name, scopes, paths, project, createdAt, expiresAt, revokedAt, state } = item;
  const since = state === "revoked" ? revokedAt : expiresAt && `until ${expiresAt}`;
  const where = project === null ? paths.join(", ") : `${paths.join(", ")} (${project})`;
  return [id, name, scopes.join(", "), where, createdAt, [state, since].filter(Boolean).join(" ")];
}
