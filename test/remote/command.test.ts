/** Sessions on a server, as users of the command line send and see them. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { onTestFinished, test } from "vitest";
import { OpencodeDatabase } from "../agents/opencode-database.ts";
import { CliUser, jsonLines, type Ran } from "../cli/cli.ts";
import { makeToken } from "../server/auth/token-user.ts";
import { until } from "../support/until.ts";
import { SENT, ServedUser } from "./served-user.ts";

const message = (text: string, role = "user") => {
  return `${JSON.stringify({ kind: "message", role, parts: [{ type: "text", text }] })}\n`;
};

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function recordedIn({ stdout }: Ran): { session: string; path: string } {
  const [first] = jsonLines(stdout);
  return first as { session: string; path: string };
}

/** The only session that the server lists, once all of it was read. */
async function onlySession({ client }: ServedUser) {
  let found = await client.sessions.list();
  await until(async () => {
    found = await client.sessions.list();
    return found.isComplete && (found.sessions[0]?.title ?? null) !== null;
  }, "the session is listed");
  assert.equal(found.sessions.length, 1);
  return found.sessions[0] ?? assert.fail();
}

test("a signed session arrives, and is listed, searched and verified there like here", async () => {
  const user = new CliUser();
  const served = await ServedUser.start(user);
  const input = message("hello zanzibar") + message("hi", "assistant") + message("bye");
  const env = served.env;
  const args = ["record", "--sign", "append", "--to", `${served.url}/laptop`];
  const ran = await user.run(args, { input, env });
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  const { session, path } = recordedIn(ran);
  const item = await onlySession(served);
  assert.deepEqual([item.session, item.title], [session, "hello zanzibar"]);
  const report = await served.client.sessions.verify(item.id);
  const here = await user.run(["verify", session, "--json"]);
  assert.equal(report.verdict, "verified");
  assert.equal(JSON.parse(here.stdout).verdict, report.verdict);
  assert.equal(JSON.parse(here.stdout).root, report.root);
  const { hits } = await served.client.sessions.search("zanzibar");
  assert.equal(hits.length, 1);
  const stream = `${SENT}/verbatim/${path.slice(user.cwd.length + 1)}`;
  assert.deepEqual(await served.stream(stream), readFileSync(path));
});

test("an unreachable server changes nothing for an agent; what it recorded is sent later", async () => {
  const user = new CliUser();
  const served = await ServedUser.start();
  const port = await closedPort();
  const dead = `http://127.0.0.1:${port}/laptop`;
  const ran = await user.run(["record", "--ack", "--to", dead], { input: message("one") });
  assert.equal(ran.code, 0);
  assert.equal(jsonLines(ran.stdout).length, 2);
  assert.match(ran.stderr, /not sent: .*127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
  assert.match(
    ran.stderr,
    /nothing is lost: .*`verbatim guard send --to http:.*\/laptop` delivers them/,
  );
  const failed = await user.run(["guard", "send", "--to", dead]);
  assert.deepEqual([failed.code, failed.stdout], [7, "0 sessions delivered\n"]);
  const { session } = recordedIn(ran);
  const { env } = served;
  const sent = await user.run(["guard", "send", "--to", `${served.url}/laptop`, session], { env });
  assert.deepEqual([sent.code, sent.stdout], [0, "1 session delivered\n"]);
  assert.equal((await onlySession(served)).session, session);
});

test("a server that never answers delays the end of a recording by VERBATIM_CLOSE_MS at most", async () => {
  const user = new CliUser();
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const to = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/laptop`;
  const env = { VERBATIM_CLOSE_MS: "50" };
  const ran = await user.run(["record", "--to", to], { input: message("one"), env });
  assert.equal(ran.code, 0);
  assert.match(ran.stderr, /not sent: .*\n.*nothing is lost/);
  const wrong = { VERBATIM_CLOSE_MS: "soon" };
  const refused = await user.run(["record", "--to", to], { input: message("two"), env: wrong });
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /VERBATIM_CLOSE_MS must be a whole number of milliseconds/);
});

test("without the right token nothing is sent and nothing is lost", async () => {
  const user = new CliUser();
  const served = await ServedUser.start();
  const to = ["--to", `${served.url}/laptop`];
  const elsewhere = await makeToken(served.data, { scopes: ["read", "append"], paths: ["x/**"] });
  for (const VERBATIM_TOKEN of ["", "vbt_no", elsewhere.token]) {
    const env = { ...served.env, VERBATIM_TOKEN };
    const ran = await user.run(["record", ...to], { input: message("one"), env });
    assert.equal(ran.code, 0);
    assert.match(ran.stderr, /VERBATIM_TOKEN must be a token with .* sessions\/laptop\/\*\*/);
  }
  const sent = await user.run(["guard", "send", ...to], { env: served.env });
  assert.deepEqual([sent.code, sent.stdout], [0, "3 sessions delivered\n"]);
  const again = await user.run(["guard", "send", ...to], { env: served.env });
  assert.equal(again.stdout, "0 sessions delivered\n");
});

test("guard sends each generation of a rewritten file as a session of its own", async () => {
  const user = new CliUser();
  const served = await ServedUser.start();
  const path = join(user.home, ".claude/projects/-home-me-app/s1.jsonl");
  const row = (text: string) => {
    const message = { role: "user", content: text };
    const at = { timestamp: "2026-01-01T00:00:00Z" };
    return `${JSON.stringify({ type: "user", sessionId: "s1", uuid: text, ...at, message })}\n`;
  };
  mkdirSync(dirname(path), { recursive: true });
  const guard = ["guard", "--once", "--to", `${served.url}/laptop`];
  const stream = (n: number) => {
    return served.stream(`${SENT}/claude-code@${n}/projects/-home-me-app/s1.jsonl`);
  };
  writeFileSync(path, row("one") + row("two"));
  assert.equal((await user.run(guard, { env: served.env })).code, 0);
  writeFileSync(path, row("one") + row("two") + row("three"));
  assert.equal((await user.run(guard, { env: served.env })).code, 0);
  writeFileSync(path, row("rewritten"));
  const last = await user.run(guard, { env: served.env });
  assert.deepEqual([last.code, last.stderr], [0, ""]);
  assert.equal(String(await stream(1)), row("one") + row("two") + row("three"));
  assert.equal(String(await stream(2)), row("rewritten"));
  const list = async () => (await served.client.sessions.list()).sessions;
  const titles = async () => (await list()).map(({ title }) => title).sort();
  await until(async () => String(await titles()) === "one,rewritten", "both are read");
  const sessions = await list();
  assert.deepEqual(new Set(sessions.map(({ program }) => program)), new Set(["Claude Code"]));
});

test("guard sends sessions of a database row by row, and the server shows each message once", async () => {
  const user = new CliUser();
  const served = await ServedUser.start();
  const folder = join(user.home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = new OpencodeDatabase(join(folder, "opencode.db"));
  onTestFinished(() => database.close());
  const say = (id: string, at: number, role: string, text: string) => {
    database.message("ses_1", id, at, { role, time: { created: at } }, [{ type: "text", text }]);
  };
  database.session("ses_1");
  say("msg_1", 1, "user", "count the lines");
  const guard = ["guard", "--once", "--to", `${served.url}/laptop`];
  assert.equal((await user.run(guard, { env: served.env })).code, 0);
  database.database.exec("UPDATE part SET data = replace(data, 'lines', 'words')");
  database.database.exec("UPDATE session SET time_updated = 2000");
  say("msg_2", 2, "assistant", "seven");
  const last = await user.run(guard, { env: served.env });
  assert.deepEqual([last.code, last.stderr], [0, ""]);

  const sent = await served.stream(`${SENT}/opencode@1.rows/opencode.db/ses_1`);
  const kept = join(user.home, ".local/share/verbatim/guard");
  const [root = ""] = readdirSync(kept);
  assert.deepEqual(sent, readFileSync(join(kept, root, "opencode.db/ses_1.1")));
  assert.match(String(sent), /lines.*words.*seven/s);
  const item = await onlySession(served);
  assert.deepEqual([item.program, item.title], ["OpenCode", "Count lines"]);
  const shown = async () => {
    const { entries } = await served.client.sessions.entries(item.id);
    const parts = entries.flatMap(({ entry }) => entry?.parts ?? []);
    return parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  };
  await until(async () => (await shown()).length === 2, "both messages are shown");
  assert.deepEqual(await shown(), ["count the words", "seven"]);
  const { hits } = await served.client.sessions.search("seven");
  assert.equal(hits.length, 1);
});

test("a bad address, and a session of another program, are wrong usage", async () => {
  const user = new CliUser();
  const bad = await user.run(["guard", "send", "--to", "ftp://example.com"]);
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /--to must be an address such as https:/);
  const path = join(user.home, ".claude/projects/-home-me-app/s1.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{"type":"user","sessionId":"s1","message":{"role":"user","content":"x"}}\n');
  const others = await user.run(["guard", "send", "--to", "http://127.0.0.1:4437", "s1"]);
  assert.deepEqual([others.code, /guard --to/.test(others.stderr)], [2, true]);
  const missing = await user.run(["guard", "send"]);
  assert.deepEqual([missing.code, /--to is missing/.test(missing.stderr)], [2, true]);
});
