/**
 * A real PostgreSQL for tests, from Debian's packages (scripts/test-packages.sh), or from
 * VERBATIM_POSTGRES, the directory with its programs. It listens on a socket in a temporary
 * directory. Without one, tests that need it are skipped with a message; in CI, or with
 * VERBATIM_REQUIRE_POSTGRES=1, that is a failure.
 *
 * Most tests share one server per run: the first that needs it starts it, and the run stops it.
 * Each store has a schema of its own.
 */

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { until } from "./until.ts";

const { VERBATIM_POSTGRES, VERBATIM_REQUIRE_POSTGRES, CI } = process.env;

/** The directory with `initdb` and `pg_ctl`, of the newest version; null if there is none. */
export const postgresPrograms = VERBATIM_POSTGRES ?? newestIn("/usr/lib/postgresql");
export const isPostgresRequired = VERBATIM_REQUIRE_POSTGRES === "1" || Boolean(CI);
/** For `describe.skipIf`: where it is required, the tests fail instead. */
export const lacksPostgres = postgresPrograms === null && !isPostgresRequired;

if (postgresPrograms === null) {
  process.stderr.write("No PostgreSQL here: streams in a database are NOT tested.\n");
}

function newestIn(folder: string): string | null {
  const versions = existsSync(folder) ? readdirSync(folder).map(Number) : [];
  const [newest] = versions.filter((version) => version >= 15).sort((a, b) => b - a);
  return newest === undefined ? null : join(folder, String(newest), "bin");
}

/** PostgreSQL refuses to run as root. */
const USER = process.getuid?.() === 0 ? userId("postgres") : null;

function userId(name: string): number {
  try {
    return Number(execFileSync("id", ["-u", name], { stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return 65534; // The user without rights.
  }
}

/** Fast, and gone with the machine: for tests that are not about durability. */
const FAST = ["fsync=off", "full_page_writes=off", "synchronous_commit=off"];
const SMALL = ["max_connections=200", "shared_buffers=32MB", "max_wal_size=256MB"];

export class PostgresServer {
  readonly directory: string;
  readonly #settings: readonly string[];

  private constructor(directory: string, settings: readonly string[]) {
    this.directory = directory;
    this.#settings = settings;
  }

  /** A new server without any data. */
  static start(settings: readonly string[] = FAST): PostgresServer {
    const server = PostgresServer.#in(mkdtempSync(join(tmpdir(), "pg-")), settings);
    server.#run("initdb", [
      ...["--pgdata", server.data, "--username", "postgres", "--auth", "trust"],
      ...["--encoding", "UTF8", "--locale", "C", "--no-sync", "--data-checksums"],
    ]);
    server.restart();
    return server;
  }

  /** A standby of this server, which has everything that this one has. */
  standby(settings: readonly string[] = FAST): PostgresServer {
    const standby = PostgresServer.#in(mkdtempSync(join(tmpdir(), "pg-")), settings);
    standby.#run("pg_basebackup", [
      ...["--pgdata", standby.data, "--host", this.directory, "--username", "postgres"],
      ...["--write-recovery-conf", "--checkpoint", "fast", "--no-sync"],
    ]);
    standby.restart();
    return standby;
  }

  static #in(directory: string, settings: readonly string[]): PostgresServer {
    if (USER !== null) chownSync(directory, USER, USER);
    return new PostgresServer(directory, settings);
  }

  get data(): string {
    return join(this.directory, "data");
  }

  get url(): string {
    return `postgres://postgres@/postgres?host=${encodeURIComponent(this.directory)}`;
  }

  /** Begins, and waits until it accepts connections. */
  restart(): void {
    const place = ["listen_addresses=", `unix_socket_directories=${this.directory}`];
    const settings = [...place, ...SMALL, ...this.#settings].map((setting) => `-c '${setting}'`);
    const log = join(this.directory, "log");
    this.#run("pg_ctl", [
      ...["start", "--wait", "--silent", "--pgdata", this.data, "--log", log],
      ...["--options", settings.join(" ")],
    ]);
  }

  promote(): void {
    this.#run("pg_ctl", ["promote", "--wait", "--silent", "--pgdata", this.data]);
  }

  /**
   * Cuts every connection and stops without writing anything more. SIGKILL ends only the first
   * process: its children notice, but a restart may be too early.
   */
  kill(signal: "SIGQUIT" | "SIGKILL" = "SIGQUIT"): void {
    const pid = Number(readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n")[0]);
    process.kill(pid, signal);
    if (signal === "SIGQUIT") this.#stop();
  }

  /** Stops it and removes its files. */
  remove(): void {
    this.#stop();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Does nothing if it has stopped. */
  #stop(): void {
    this.#run("pg_ctl", ["stop", "--mode", "immediate", "--silent", "--pgdata", this.data], true);
  }

  #run(program: string, given: readonly string[], mayFail = false): void {
    if (postgresPrograms === null) {
      throw new Error("PostgreSQL is required here; install it, or set VERBATIM_POSTGRES");
    }
    const path = join(postgresPrograms, program);
    const ids = USER === null ? [] : [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];
    const [command, args] = USER === null ? [path, given] : ["setpriv", [...ids, path, ...given]];
    try {
      execFileSync(command, args, { cwd: this.directory, stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      if (!mayFail) throw error;
    }
  }
}

/** The URL of the server that the tests of this run share. */
export async function sharedPostgres(): Promise<string> {
  const place = join(inject("runDirectory"), "postgres");
  const told = join(place, "directory");
  const isFirst = mkdirSync(place, { recursive: true }) !== undefined;
  if (isFirst) writeFileSync(told, PostgresServer.start().directory, { flag: "wx" });
  else await until(() => existsSync(told) && readFileSync(told).length > 0, "PostgreSQL started");
  const directory = readFileSync(told, "utf8");
  return `postgres://postgres@/postgres?host=${encodeURIComponent(directory)}`;
}

/** A name that no other store in the same database has. */
export function newSchema(): string {
  return `s${randomBytes(8).toString("hex")}`;
}

/** Runs one statement, past any store. */
export async function rowsIn(
  url: string,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
