/**
 * A real PostgreSQL for tests and benches, from Debian's packages (scripts/test-packages.sh), or from
 * VERBATIM_POSTGRES, the directory with its programs. It listens on a socket in a temporary
 * directory.
 */

import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { VERBATIM_POSTGRES } = process.env;

/** The directory with `initdb` and `pg_ctl`, of the newest version; null if there is none. */
export const postgresPrograms = VERBATIM_POSTGRES ?? newestIn("/usr/lib/postgresql");

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

  /** A new server without any data, in a directory of its own below `parent`. */
  static start(settings: readonly string[] = FAST, parent = tmpdir()): PostgresServer {
    const server = PostgresServer.#in(mkdtempSync(join(parent, "pg-")), settings);
    server.#run("initdb", [
      "--pgdata",
      server.data,
      "--username",
      "postgres",
      "--auth",
      "trust",
      "--encoding",
      "UTF8",
      "--locale",
      "C",
      "--no-sync",
      "--data-checksums",
    ]);
    server.restart();
    return server;
  }

  /** A standby of this server, which has everything that this one has. */
  standby(settings: readonly string[] = FAST): PostgresServer {
    const standby = PostgresServer.#in(mkdtempSync(join(tmpdir(), "pg-")), settings);
    standby.#run("pg_basebackup", [
      "--pgdata",
      standby.data,
      "--host",
      this.directory,
      "--username",
      "postgres",
      "--write-recovery-conf",
      "--checkpoint",
      "fast",
      "--no-sync",
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
      "start",
      "--wait",
      "--silent",
      "--pgdata",
      this.data,
      "--log",
      log,
      "--options",
      settings.join(" "),
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
