/**
 * The database's disk is full: appends are refused, nothing acknowledged is lost, and the store
 * continues when there is space again.
 *
 * Method: the tables are in a tablespace on a file system in memory of limited size, mounted by this
 * test. Where it may not mount, no file of the database's processes may grow past 16 MiB, the size
 * of its WAL files: then PostgreSQL refuses with another code. The log of transactions (WAL) is on another disk: without
 * space for it PostgreSQL stops, as in restarted.test.ts.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, PostgresServer, rowsIn } from "../support/postgres.ts";
import { Producers } from "../support/producers.ts";
import { refusal } from "../support/refusal.ts";
import { times } from "../support/seed.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a full disk refuses appends, loses nothing, and they continue when there is space", async () => {
    const server = PostgresServer.start([]);
    onTestFinished(() => server.remove());
    const disk = await SmallDisk.of(server);
    const store = await openPostgresStore(server.url);
    onTestFinished(() => store.close());
    const body = new Uint8Array();
    await store.create("/large", { body, contentType: "text/plain", isClosed: false });
    const producers = await Producers.beginOn([store], 8, "x".repeat(1000));
    for (let round = 0; round < Math.min(times, 5); round++) {
      await producers.haveAdvanced();
      disk.fill();
      const large = () => store.append("/large", { body: Buffer.alloc(2 * MIB), close: false });
      const untilRefused = async () => {
        for (;;) await large();
      };
      await refusal(untilRefused(), disk.code);
      const before = (await store.head("/large")).end;
      disk.free();
      await until(
        () =>
          large().then(
            () => true,
            () => false,
          ),
        "there is space again",
      );
      assert.notEqual((await store.head("/large")).end, before);
      await producers.haveAdvanced();
    }
    await producers.check(store);
  });

  test("a full disk is not healthy until there is space, and reads go on", async () => {
    const server = PostgresServer.start([]);
    onTestFinished(() => server.remove());
    const disk = await SmallDisk.of(server);
    const store = await openPostgresStore(server.url, { probeMs: 100 });
    onTestFinished(() => store.close());
    const body = new Uint8Array();
    await store.create("/s", { body, contentType: "text/plain", isClosed: false });
    disk.fill();
    const untilRefused = async () => {
      for (;;) await store.append("/s", { body: Buffer.alloc(100_000), close: false });
    };
    await refusal(untilRefused(), disk.code);
    if (disk.code === "NO_SPACE") {
      const health = store.health();
      assert.ok(!health.isWritable && health.isReadable !== false);
      assert.match(health.reason, /disk is full/);
    }
    await store.head("/s");
    disk.free();
    await until(() => store.health().isWritable, "health");
    await store.append("/s", { body: Buffer.alloc(100_000), close: false });
  });
});

/** Where the tables are. */
class SmallDisk {
  readonly code: "NO_SPACE" | "IO_ERROR";
  readonly #server: PostgresServer;
  readonly #filler: string;

  private constructor(server: PostgresServer, place: string, isMounted: boolean) {
    this.code = isMounted ? "NO_SPACE" : "IO_ERROR";
    this.#server = server;
    this.#filler = join(place, "filler");
  }

  /** Tables that are created from now on are there. */
  static async of(server: PostgresServer): Promise<SmallDisk> {
    const place = join(server.directory, "small");
    mkdirSync(place);
    const isMounted = mounted(place);
    if (isMounted) onTestFinished(() => void execFileSync("umount", ["--lazy", place]));
    const tables = join(place, "tables");
    mkdirSync(tables);
    const { uid, gid } = statSync(server.directory);
    for (const path of [place, tables]) chownSync(path, uid, gid);
    await rowsIn(server.url, `CREATE TABLESPACE small LOCATION '${tables}'`);
    await rowsIn(server.url, "ALTER DATABASE postgres SET default_tablespace = small");
    return new SmallDisk(server, place, isMounted);
  }

  fill(): void {
    if (this.code === "IO_ERROR") this.#limit(String(16 * MIB));
    else this.#fill();
  }

  #fill(): void {
    try {
      for (;;) writeFileSync(this.#filler, Buffer.alloc(64 * 1024), { flag: "a" });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }

  free(): void {
    if (this.code === "IO_ERROR") this.#limit("unlimited");
    else rmSync(this.#filler);
  }

  /** For every process of the server. */
  #limit(bytes: string): void {
    const [first] = readFileSync(join(this.#server.data, "postmaster.pid"), "utf8").split("\n");
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", first ?? ""], {
      encoding: "utf8",
    });
    for (const pid of [first ?? "", ...children.trim().split(/\s+/)]) {
      const { uid, gid } = statSync(this.#server.directory);
      execFileSync("prlimit", ["--pid", pid, `--fsize=${bytes}:`], { uid, gid });
    }
  }
}

function mounted(place: string): boolean {
  try {
    const options = ["-t", "tmpfs", "-o", "size=24m", "tmpfs", place];
    execFileSync("mount", options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
