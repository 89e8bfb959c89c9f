/**
 * Token tables: tokens in a PostgreSQL database, for all servers on it and for the command line, and
 * what servers are writing for tokens with a storage limit. Format: docs/formats/tokens.md.
 *
 * - Changes are made one after the other: each locks the row with the list's version, which it
 *   raises. Who knows the version knows whether anything changed: it is a time, so that a version
 *   is not used again after the database was set back.
 * - The connections are not those of the streams: no append waits for a list of tokens.
 */

import { PostgresDatabase } from "../../streams/postgres/database.ts";
import { failureIn, migrate } from "../../streams/postgres/migrate.ts";
import { readPromises } from "../../streams/postgres/promises.ts";
import type { ClaimOwner, StoredClaims, StoredUse } from "./stored-limits.ts";
import {
  ALL_PATHS,
  checkedTokens,
  TOKEN_FILE_VERSION,
  type TokenEntry,
  type TokenList,
} from "./tokens.ts";

const SCHEMA = "verbatim";
const STATEMENT_MS = 5000;
const CONNECT_MS = 5000;
/** How long a claim of a server that stopped counts, by the database's clock. */
export const CLAIM_MS = 30_000;

interface VersionedTokens {
  readonly version: number;
  readonly entries: readonly TokenEntry[];
}

type Row = Readonly<Record<string, unknown>>;
type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export class TokenTables implements TokenList, StoredClaims {
  readonly place: string;
  readonly countsEach = true;
  readonly #database: PostgresDatabase;

  private constructor(database: PostgresDatabase) {
    this.#database = database;
    this.place = `${database.place} ${SCHEMA}.tokens`;
  }

  /** Of a database whose tables a server has made. Connects with the first question. */
  static async of(url: string): Promise<TokenTables> {
    const times = { statementMs: STATEMENT_MS, connectMs: CONNECT_MS };
    const options = { url, schema: SCHEMA, readersMax: 1, ...times };
    return new TokenTables(await PostgresDatabase.open(options));
  }

  /** Makes or upgrades the tables first. Throws POSTGRES_REFUSED if that is not possible. */
  static async open(url: string): Promise<TokenTables> {
    const tables = await TokenTables.of(url);
    try {
      await readPromises(tables.#database);
      await migrate(tables.#database);
      return tables;
    } catch (cause) {
      const error = await failureIn(tables.#database, cause);
      await tables.close();
      throw error;
    }
  }

  async entries(): Promise<readonly TokenEntry[]> {
    return (await this.newer(-1))?.entries ?? [];
  }

  /** The list; null if it still has this version. */
  async newer(version: number): Promise<VersionedTokens | null> {
    const own = `SELECT version FROM ${SCHEMA}.token_list`;
    try {
      const [row] = await this.#database.read(own, [], "token-version");
      if (Number(row?.version) === version) return null;
      // In one snapshot: a list is never taken for that of another version.
      const all = `SELECT v.version, t.entry FROM ${SCHEMA}.token_list v
        LEFT JOIN ${SCHEMA}.tokens t ON true ORDER BY t.place`;
      const rows = await this.#database.read(all, []);
      return { version: Number(rows[0]?.version), entries: this.#entriesOf(rows) };
    } catch (cause) {
      throw await failureIn(this.#database, cause);
    }
  }

  async change(work: (entries: readonly TokenEntry[]) => readonly TokenEntry[]): Promise<void> {
    await this.#transaction(async (query) => {
      await query(`UPDATE token_list SET version =
        greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`);
      const before = this.#entriesOf(await query("SELECT entry FROM tokens ORDER BY place"));
      const texts = new Set(before.map((entry) => JSON.stringify(entry)));
      const after = this.#checked(work(before));
      for (const entry of after) {
        const text = JSON.stringify(entry);
        if (texts.has(text)) continue;
        const put = `INSERT INTO tokens (id, entry) VALUES ($1, $2)
          ON CONFLICT (id) DO UPDATE SET entry = excluded.entry`;
        await query(put, [entry.id, text]);
      }
    });
  }

  async claim(
    { token, server, patterns }: ClaimOwner,
    decide: (used: StoredUse) => StoredUse,
  ): Promise<void> {
    await this.#transaction(async (query) => {
      await query("SET LOCAL synchronous_commit = off"); // A claim need not survive a crash.
      await query("SELECT pg_advisory_xact_lock(hashtext($1))", [`verbatim ${SCHEMA} ${token}`]);
      const { where, values } = below(patterns);
      const counted = `SELECT count(*) AS streams, coalesce(sum("end" - base), 0) AS bytes
        FROM streams WHERE status = 'live' AND (${where})`;
      const claimed = `SELECT coalesce(sum(streams), 0) AS streams, coalesce(sum(bytes), 0) AS bytes
        FROM token_writes WHERE token = $1 AND server <> $2 AND until > now()`;
      // In this order: what is given back in between is stored by then, and counted. The other way
      // round it would be neither claimed nor counted.
      const [others] = await query(claimed, [token, server]);
      const [stored] = await query(counted, values);
      const { streams, bytes } = decide({
        streams: Number(stored?.streams) + Number(others?.streams),
        bytes: Number(stored?.bytes) + Number(others?.bytes),
      });
      const put = `INSERT INTO token_writes
        VALUES ($1, $2, $3, $4, now() + interval '${CLAIM_MS} milliseconds')
        ON CONFLICT (token, server) DO UPDATE SET
          streams = excluded.streams, bytes = excluded.bytes, until = excluded.until`;
      await query(put, [token, server, streams, bytes]);
      await query("DELETE FROM token_writes WHERE until < now()");
    });
  }

  async release({ token, server }: ClaimOwner, { streams, bytes }: StoredUse): Promise<void> {
    await this.#transaction(async (query) => {
      await query("SET LOCAL synchronous_commit = off");
      const put =
        "UPDATE token_writes SET streams = $3, bytes = $4 WHERE token = $1 AND server = $2";
      await query(put, [token, server, streams, bytes]);
    });
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #transaction(work: (query: Query) => Promise<void>): Promise<void> {
    try {
      await this.#database.transaction(async (client) => {
        await client.query(`SET LOCAL search_path TO ${SCHEMA}`);
        await work(async (text, values = []) => (await client.query(text, [...values])).rows);
      });
    } catch (cause) {
      throw await failureIn(this.#database, cause);
    }
  }

  #entriesOf(rows: readonly Row[]): readonly TokenEntry[] {
    const texts = rows.flatMap(({ entry }) => (typeof entry === "string" ? [entry] : []));
    return this.#checked(texts.map((text) => JSON.parse(text)));
  }

  #checked(tokens: readonly unknown[]): readonly TokenEntry[] {
    return checkedTokens(this.place, { version: TOKEN_FILE_VERSION, tokens });
  }
}

/** The condition for streams that one of the patterns matches, found by the index of their paths. */
function below(patterns: readonly string[]): { where: string; values: readonly string[] } {
  const values: string[] = [];
  const one = patterns.map((pattern) => {
    if (pattern === ALL_PATHS) return "true";
    const segments = pattern.split("/");
    const fixed = segments.findIndex((each) => each === "*" || each === "**");
    const literal = segments.slice(0, fixed === -1 ? undefined : fixed).map(starOf);
    const start = ["", ...literal].join("/").slice(0, PREFIX_CHARS);
    const expression = segments.map((each) => SEGMENTS[each] ?? `/${escaped(starOf(each))}`);
    values.push(start, `^${expression.join("")}$`);
    const at = values.length;
    const indexed = `substr(path, 1, 500)`;
    const isNear = `${indexed} >= $${at - 1} AND ${indexed} < $${at - 1} || chr(1114111)`;
    return `(${isNear} AND path ~ $${at})`;
  });
  return { where: one.join(" OR "), values };
}

const PREFIX_CHARS = 100;
const SEGMENTS: Readonly<Record<string, string>> = { "*": "/[^/]*", "**": "(/[^/]*)*" };

function starOf(segment: string): string {
  return segment.replace(/%2a/gi, "*");
}

function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "\\$&");
}
