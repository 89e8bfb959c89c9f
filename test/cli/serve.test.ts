/** `verbatim serve`, as a process: what it prints, what it refuses, how it stops. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { CliUser, type Running } from "./cli.ts";

/** The server's URL, which it prints first. */
async function urlOf(running: Running): Promise<string> {
  for (;;) {
    const line = await running.line();
    if (line === null) assert.fail(`it ended: ${running.stderr}`);
    const [url] = /http:\/\/[^\s/]+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
}

test("serve prints its URL first, then how to use it: a browser, three commands to try", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0"]);
  const url = await urlOf(running);
  assert.equal((await fetch(url)).status, 200);
  const lines: string[] = [];
  while (lines.length < 8) lines.push((await running.line()) ?? assert.fail(running.stderr));
  assert.match(lines[0] ?? "", /browser/);
  assert.ok(lines[2]?.startsWith(`  ${url}/open?key=`), lines[2]);
  assert.match(lines[3] ?? "", new RegExp(join(user.home, ".local/share/verbatim")));
  const commands = lines.filter((line) => line.startsWith("  curl "));
  assert.equal(commands.length, 3);
  for (const command of commands) assert.ok(command.includes(`${url}/v1/stream/`), command);

  const stream = `${url}/v1/stream/chat/1`;
  const headers = { "Content-Type": "application/json" };
  await fetch(stream, { method: "PUT", headers });
  await fetch(stream, { method: "POST", headers, body: '{"hello":"world"}' });
  assert.equal(await (await fetch(stream)).text(), '[{"hello":"world"}]');
  const logs = readdirSync(join(user.home, ".local/share/verbatim/logs"));
  assert.deepEqual(logs, ["chat__1.jsonl"]);
});

test("SIGTERM finishes accepted requests: every acknowledged append is stored", async () => {
  const user = new CliUser();
  const data = join(user.cwd, "streams");
  const running = user.start(["serve", "--port", "0", "--data", data]);
  const stream = `${await urlOf(running)}/v1/stream/s`;
  const headers = { "Content-Type": "application/json" };
  await fetch(stream, { method: "PUT", headers });

  const acknowledged: number[] = [];
  let isStopped = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = writer; !isStopped; n += 8) {
      const append = fetch(stream, { method: "POST", headers, body: `{"n":${n}}` });
      const response = await append.catch(() => null); // The server has stopped: nothing was acknowledged.
      if (response === null) return;
      assert.equal(response.status, 204);
      acknowledged.push(n);
      if (acknowledged.length === 200) running.signal("SIGTERM");
    }
  });
  assert.equal(await running.exitCode(), 0);
  isStopped = true;
  await Promise.all(writers);
  assert.ok(acknowledged.length >= 200);

  const again = user.start(["serve", "--port", "0", "--data", data]);
  const url = `${await urlOf(again)}/v1/stream/s`;
  const stored = (await (await fetch(url)).json()) as { n: number }[];
  const numbers = stored.map(({ n }) => n);
  assert.equal(new Set(numbers).size, numbers.length);
  for (const n of acknowledged) assert.ok(numbers.includes(n), `${n} was acknowledged and is gone`);
});

test("a port in use is reported, with --port as the remedy", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await new CliUser().run(["serve", "--port", String(port)]);
  assert.equal(code, 7);
  assert.match(stderr, new RegExp(`port ${port} .*--port`));
  assert.match(stderr, /PORT_TAKEN/);
});

test("a second server of the same data is refused with the address of the first, at any port", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0", "--data", "streams"]);
  const { port } = new URL(await urlOf(running));
  const second = ["serve", "--port", port, "--data"];
  const { code, stderr } = await user.run([...second, "streams"]);
  assert.equal(code, 7);
  const data = join(user.cwd, "streams");
  assert.ok(stderr.includes(`the server of ${data} already runs at http://127.0.0.1:${port}`));
  assert.ok(stderr.includes(`\`verbatim open --data ${data}\` opens it (SERVER_RUNNING)`), stderr);
  const elsewhere = await user.run(["serve", "--port", "0", "--data", "streams"]);
  assert.equal(elsewhere.stderr, stderr, "the same at another port");
  const other = await user.run([...second, "others"]);
  assert.match(other.stderr, /is taken by another program/);
});

test("once there are tokens, the commands to try have one, also for a server that others can reach", async () => {
  const user = new CliUser();
  const made = await user.run(["server", "token", "create", "--data", "streams"]);
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    const args = ["--port", "0", "--host", host, "--data", "streams", "--root", "."];
    const running = user.start(["serve", ...args]);
    const lines: string[] = [];
    while (lines.length < 9) lines.push((await running.line()) ?? assert.fail(running.stderr));
    assert.match(lines[0] ?? "", /^verbatim listens on http:\/\/127\.0\.0\.1:\d+$/);
    const text = lines.join("\n");
    assert.equal(text.includes("others can reach it on 0.0.0.0, with a token"), host === "0.0.0.0");
    assert.match(text, /it asks for a token of `verbatim server token create --data /);
    assert.doesNotMatch(text, /every user of this machine|http:\/\/0\.0\.0\.0/);
    const commands = lines.filter((line) => line.startsWith("  curl "));
    assert.equal(commands.length, 3);
    for (const command of commands.slice(0, 2)) {
      const env = { PATH: process.env.PATH ?? "", TOKEN: made.stdout.trim() };
      execFileSync("sh", ["-c", `${command} -sf`], { env });
    }
    assert.ok(commands[2]?.endsWith('-H "Authorization: Bearer $TOKEN"'), commands[2]);
    running.signal("SIGTERM");
    assert.equal(await running.exitCode(), 0);
    assert.match(running.stderr, /stopping: finishing open requests/);
  }
});

test("an address that others can reach is refused", async () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.0.0.1.example.com"]) {
    const { code, stderr } = await new CliUser().run(["serve", "--host", host, "--port", "0"]);
    assert.equal(code, 7, host);
    assert.match(stderr, /only this machine/);
  }
});

test("next to a server without private sessions, a second one is refused with the first's process", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0", "--root", "."]);
  await urlOf(running);
  const { code, stderr } = await user.run(["serve", "--port", "0"]);
  assert.equal(code, 7);
  assert.ok(stderr.includes(`is in use by process ${running.pid}`), stderr);
  assert.match(stderr, /LOG_LOCKED/);
});

test("invalid options of serve are wrong usage", async () => {
  for (const args of [
    ["--port", "65536"],
    ["--port", "http"],
    ["--long-poll-timeout", "0"],
    ["--max-body", "-1"],
    ["--allow-origin", "app.example.com"],
    ["--data", ""],
    ["--durability", "standby"],
    ["--store", "mysql://user@host/database"],
    ["--store", "postgres://user@host/database", "--durability", "tape"],
  ]) {
    const { code, stderr } = await new CliUser().run(["serve", ...args]);
    assert.equal(code, 2, args.join(" "));
    if (/^--(?:durability|store)$/.test(args[0] ?? ""))
      assert.match(
        stderr,
        /error: --(?:durability needs --store|store takes postgres|durability must be)/,
      );
  }
});
