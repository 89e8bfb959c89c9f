/**
 * Signed streams in a database: a user with their own key, servers, and verdicts. For a verdict the
 * rows are written to files as they are, and the verifier of files judges them.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { StreamJudge } from "../../src/evidence/verify/judge-streams.ts";
import type { StreamState } from "../../src/streams/commit/stream-state.ts";
import {
  type OpenOptions,
  openPostgresStore,
  type PostgresStreams,
} from "../../src/streams/postgres/postgres-store.ts";
import { pinnedNameOf } from "../../src/streams/postgres/store-options.ts";
import { knownOf, sidOf } from "../../src/streams/postgres/stream-row.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";
import { Heads, rememberedIn } from "../../src/trust/heads/heads.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { Trust, transcriptKeys } from "../../src/trust/trusted-keys/trust.ts";
import { newSchema, rowsIn, sharedPostgres } from "./postgres.ts";
import { SigningUser } from "./signing-user.ts";
import { tempDirectory } from "./temp-directory.ts";

export class SignedDatabase {
  readonly user: SigningUser;
  readonly warnings: string[] = [];
  readonly url: string;
  readonly schema: string;

  private constructor(url: string, schema: string, user: SigningUser) {
    this.url = url;
    this.schema = schema;
    this.user = user;
  }

  static async create(
    schema = newSchema(),
    user = new SigningUser(),
    url?: string,
  ): Promise<SignedDatabase> {
    return new SignedDatabase(url ?? (await sharedPostgres()), schema, user);
  }

  /** A server, closed after the test. It signs with the key of the user who is current. */
  async open(options: OpenOptions = {}): Promise<PostgresStreams> {
    const signing = await loadStreamSigner(nodeHost, (warning) => this.warnings.push(warning));
    const { schema } = this;
    const store = await openPostgresStore(this.url, {
      schema,
      durability: "memory",
      signing,
      ...options,
    });
    onTestFinished(() => store.close());
    return store;
  }

  rows(sql: string) {
    return rowsIn(this.url, sql.replaceAll("$.", `${this.schema}.`));
  }

  async states(): Promise<StreamState[]> {
    const rows = await this.rows("SELECT * FROM $.streams WHERE status <> 'deleted' ORDER BY path");
    return rows.flatMap((row) => knownOf(row).state ?? []);
  }

  /** The concatenated bytes of a stream in one table. */
  async bytes(state: StreamState, table: "messages" | "checkpoints"): Promise<Buffer> {
    const sql = `SELECT bytes FROM $.${table} WHERE sid = ${sidOf(state)} ORDER BY "end"`;
    return Buffer.concat((await this.rows(sql)).map((row) => row.bytes as Buffer));
  }

  /** The checkpoints of a stream. */
  async checkpoints(path: string): Promise<{ payload: Record<string, unknown> }[]> {
    const state = (await this.states()).find((each) => each.path === path);
    if (state === undefined) return [];
    const text = (await this.bytes(state, "checkpoints")).toString();
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  }

  async kinds(path: string): Promise<unknown[]> {
    return (await this.checkpoints(path)).map(({ payload }) => payload.kind);
  }

  /** The reports on all streams, by path. */
  async reports(): Promise<Map<string, VerifyReport>> {
    const trust = await Trust.load(this.user.places);
    const { stateDirectory } = this.user.places;
    const onWarning = (warning: string) => void this.warnings.push(warning);
    const book = await new Heads({ host: nodeHost, stateDirectory, onWarning }).read();
    const place = `streams:${pinnedNameOf(this.url, this.schema)}`;
    const names = { place, others: [], leadsTo: null };
    const root = tempDirectory();
    mkdirSync(join(root, "logs"));
    const states = (await this.states()).filter(({ end }) => end > 0);
    for (const state of states) {
      const file = join(root, "logs", state.file);
      const checkpoints = await this.bytes(state, "checkpoints");
      writeFileSync(file, await this.bytes(state, "messages"));
      if (checkpoints.length > 0) writeFileSync(`${file}.checkpoints`, checkpoints);
    }
    const logs = await nodeHost.files.openDirectory(join(root, "logs"), { create: false });
    const judge = await StreamJudge.of({
      root,
      names,
      logs,
      streams: new Map(states.map((state) => [state.path, state])),
      judging: {
        optionsFor: ({ id }) => ({
          crypto: nodeCrypto,
          keys: transcriptKeys(trust, id),
          remembered: rememberedIn(book, { place, id, names }),
        }),
        pinnedIn: () => [],
      },
    });
    const reports = new Map<string, VerifyReport>();
    for (const state of states) reports.set(state.path, await judge.report(state));
    logs.close();
    return reports;
  }

  /** The verdicts by path, with the findings that affect them. */
  async verdicts(): Promise<Record<string, string>> {
    const verdicts: Record<string, string> = {};
    for (const [path, { verdict, findings }] of await this.reports()) {
      const code = findings.find((each) => each.verdict === verdict)?.code;
      verdicts[path] = code === undefined ? verdict : `${verdict} ${code}`;
    }
    return verdicts;
  }
}
