/** docs/server.md, "Backup and restore", executed: with the data directory as its user's home. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines, main, type Running } from "../cli/cli.ts";
import { docsPage } from "../support/docs-page.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const page = docsPage("server");
const headers = { "Content-Type": "application/json" };

/** A test machine with the places and services that the page mentions. */
class Machine {
  readonly #directory = tempDirectory();
  readonly data = join(this.#directory, "verbatim");
  readonly user = new CliUser(this.data);
  #server: Running | null = null;
  #url = "";

  constructor() {
    mkdirSync(this.data, { mode: 0o700 });
    const program = join(this.#directory, "bin/verbatim");
    mkdirSync(join(this.#directory, "bin"));
    const command = [process.execPath, ...main].map((each) => `'${each}'`).join(" ");
    writeFileSync(program, `#!/bin/sh\nexec ${command} "$@"\n`);
    chmodSync(program, 0o755);
  }

  /** Runs a line of the page, and returns its exit code and output. */
  async do(line: string): Promise<{ readonly code: number; readonly stdout: string }> {
    if (line === "systemctl start verbatim") return this.start();
    if (line === "systemctl stop verbatim") return this.stop();
    const own = line
      .replace(/^sudo -H -u verbatim /, "")
      .replace("head accept ", "head accept --yes ") // There is no terminal for questions.
      .replaceAll("/var/lib/", `${this.#directory}/`)
      .replaceAll("/mnt/backup/", `${this.#directory}/`);
    const PATH = `${this.#directory}/bin:${process.env.PATH}`;
    return new Promise((resolve) => {
      const options = { cwd: "/", env: { PATH, HOME: this.data } };
      execFile("/bin/sh", ["-c", own], options, (error, stdout) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout });
      });
    });
  }

  async start() {
    const server = this.user.start(["serve", "--sign", "--port", "0", "--data", this.data]);
    this.#url = /http:\S+/.exec((await server.line()) ?? "")?.[0] ?? assert.fail(server.stderr);
    this.#server = server;
    return { code: 0, stdout: "" };
  }

  async stop() {
    this.#server?.signal("SIGTERM");
    await this.#server?.exitCode();
    this.#server = null;
    return { code: 0, stdout: "" };
  }

  async append(...streams: readonly string[]): Promise<void> {
    for (const path of streams) {
      await fetch(`${this.#url}/v1/stream${path}`, { method: "PUT", headers });
      const init = { method: "POST", headers, body: '{"n":1}' };
      assert.equal((await fetch(`${this.#url}/v1/stream${path}`, init)).status, 204);
    }
  }

  /** Whether a stream has a checkpoint after its genesis, which is written with the first bytes. */
  hasSigned(file: string): boolean {
    const sidecar = join(this.data, "logs", `${file}.checkpoints`);
    return existsSync(sidecar) && readFileSync(sidecar, "utf8").split("\n").length > 2;
  }

  async verdicts(): Promise<unknown> {
    const { stdout } = await this.do("verbatim verify /var/lib/verbatim --json");
    return jsonLines(stdout).map(({ session, verdict }) => [session, verdict]);
  }
}

test("the page's backup and restore steps restore a signed store, and all of it is verified", async () => {
  const machine = new Machine();
  await machine.start();
  await machine.append("/chat/1", "/chat/2");
  await until(() => machine.hasSigned("chat__1.jsonl") && machine.hasSigned("chat__2.jsonl"));
  for (const line of page.lines("sh backup")) assert.equal((await machine.do(line)).code, 0, line);
  await machine.append("/chat/1", "/chat/2", "/chat/3");
  const codes: number[] = [];
  for (const line of page.lines("sh restore")) codes.push((await machine.do(line)).code);
  // All commands succeeded, and verify reported that something is lost.
  assert.deepEqual(codes, [0, 0, 0, 0, 6, 0, 0, 0]);
  await machine.append("/chat/1", "/chat/2", "/chat/3");
  await machine.stop();
  assert.deepEqual(await machine.verdicts(), [
    ["/chat/1", "verified"],
    ["/chat/2", "verified"],
    ["/chat/3", "verified"],
  ]);
});
