/** `verbatim server token` as a user runs it, and the server with these tokens. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";

test("create prints only the token on stdout, ls never shows it, revoke ends it", async () => {
  const user = new CliUser();
  const data = ["--data", join(user.cwd, "streams")];
  const scopes = ["--scope", "append,read", "--path", "/chat/**,logs/*"];
  const made = await user.run([
    "server",
    "token",
    "create",
    ...data,
    ...scopes,
    "--name",
    "laptop",
    "--expires",
    "30d",
  ]);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^vbt_[\w-]{43}\n$/);
  const token = made.stdout.trim();
  assert.ok(!made.stderr.includes(token));
  assert.ok(made.stderr.includes(`for a server that uses ${data[1]}/tokens.json\n`), made.stderr);
  const [id] = /[0-9a-f]{8}/.exec(made.stderr) ?? [];

  const listed = await user.run(["server", "token", "ls", ...data, "--json"]);
  const [entry] = jsonLines(listed.stdout);
  assert.deepEqual(
    [entry?.id, entry?.name, entry?.scopes, entry?.paths, entry?.state],
    [id, "laptop", ["read", "append"], ["chat/**", "logs/*"], "valid"],
  );
  const lifetime = Date.parse(String(entry?.expiresAt)) - Date.parse(String(entry?.createdAt));
  assert.equal(lifetime, 30 * 24 * 3600 * 1000);
  const table = await user.run(["server", "token", "ls", ...data]);
  assert.match(table.stdout, /laptop +read, append +chat\/\*\*, logs\/\* .*valid until/);
  for (const { stdout } of [listed, table]) assert.ok(!stdout.includes(token));

  const revoked = await user.run(["server", "token", "revoke", id ?? "", ...data]);
  assert.equal(revoked.code, 0, revoked.stderr);
  const after = await user.run(["server", "token", "ls", ...data]);
  assert.match(after.stdout, /revoked 20/);
  assert.equal((await user.run(["server", "token", "revoke", "none", ...data])).code, 7);
});

test("invalid options of token create are wrong usage, and create none", async () => {
  const user = new CliUser();
  for (const args of [
    ["--scope", "write"],
    ["--scope", ""],
    ["--path", "a*"],
    ["--path", "a//b"],
    ["--expires", "soon"],
    ["--expires", "0d"],
    ["--expires", "2020-01-01"],
    ["--name", "a\nb"],
  ]) {
    const { code, stdout } = await user.run(["server", "token", "create", ...args]);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
  }
  const { stderr } = await user.run(["server", "token", "ls"]);
  assert.match(stderr, /no tokens in/);
});

test("serve accepts a public address once there is a token, and logs requests without any secret", async () => {
  const user = new CliUser();
  const data = ["--data", join(user.cwd, "streams")];
  const { stdout } = await user.run(["server", "token", "create", ...data, "--json"]);
  const [made] = jsonLines(stdout);
  const log = join(user.cwd, "requests.jsonl");
  const running = user.start([
    "serve",
    ...data,
    "--host",
    "0.0.0.0",
    "--port",
    "0",
    "--request-log",
    log,
  ]);
  const port = /:(\d+)$/.exec((await running.line()) ?? "")?.[1];
  const stream = `http://127.0.0.1:${port}/v1/stream/chat/1`;
  const headers = { Authorization: `Bearer ${made?.token}`, "Content-Type": "text/plain" };
  assert.equal((await fetch(stream, { method: "PUT", headers })).status, 201);
  const posted = { method: "POST", headers, body: "my prompt" };
  assert.equal((await fetch(`${stream}?secret=1`, posted)).status, 204);
  assert.equal((await fetch(stream)).status, 401);
  assert.equal(await (await fetch(stream, { headers })).text(), "my prompt");
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);
  assert.match(running.stderr, /warning: tokens travel unencrypted/);

  const text = readFileSync(log, "utf8");
  for (const secret of [made?.token, "my prompt", "secret=1", "Bearer"]) {
    assert.ok(!text.includes(String(secret)), `the log holds ${secret}`);
  }
  const lines = jsonLines(text);
  const told = lines.map(({ method, route, stream: path, status, code, token }) => {
    return [method, route, path, status, code, token];
  });
  assert.deepEqual(told, [
    ["PUT", "stream", "/chat/1", 201, null, made?.id],
    ["POST", "stream", "/chat/1", 204, null, made?.id],
    ["GET", "stream", "/chat/1", 401, "TOKEN_REQUIRED", null],
    ["GET", "stream", "/chat/1", 200, null, made?.id],
  ]);
  assert.equal(lines[1]?.bytesIn, "my prompt".length);
  for (const { ms, bytesOut, time } of lines) {
    assert.ok(Number(ms) >= 0 && Number(bytesOut) > 0 && !Number.isNaN(Date.parse(String(time))));
  }
});

test("invalid access options of serve are wrong usage", async () => {
  const user = new CliUser();
  const key = join(user.cwd, "key.pem");
  writeFileSync(key, "x");
  for (const args of [
    ["--tls-key", key],
    ["--tls-cert", key],
    ["--allow-host", "http://a.example"],
    ["--allow-host", "a b"],
    ["--public-url", "streams.example.com"],
    ["--max-connections", "0"],
    ["--max-readers", "many"],
  ]) {
    const { code } = await user.run(["serve", ...args]);
    assert.equal(code, 2, args.join(" "));
  }
});
