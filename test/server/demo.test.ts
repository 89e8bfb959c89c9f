/**
 * The demo: shown if there is no session, removed by one request, and never among the user's own.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { demoRoot, userPaths } from "../../src/core/base/node-paths.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { Heads } from "../../src/trust/heads/heads.ts";
import { said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { browserClient, cookieOf, linkOf } from "./auth/browser-user.ts";
import { makeToken } from "./auth/token-user.ts";
import { newUser } from "./sessions/served.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A user whose home and current directory hold no session. */
function emptyUser() {
  const user = newUser();
  const before = [process.env.HOME, process.cwd()] as const;
  process.env.HOME = user.home;
  const cwd = tempDirectory();
  process.chdir(cwd);
  onTestFinished(() => {
    process.env.HOME = before[0];
    process.chdir(before[1]);
  });
  return { user, cwd };
}

const serve = () => startTestServer({ roots: "found", demo: true });
const clientOf = (server: TestServer) => browserClient(server.url, linkOf(server.running));

test("without sessions the demo is shown: signed, with every kind of entry, outside the user's roots", async () => {
  const { cwd } = emptyUser();
  const server = await serve();
  const client = await clientOf(server);
  assert.deepEqual(await client.demo(), { isShown: true });
  const { sessions } = await client.sessions.list();
  assert.equal(sessions.length, 2);
  const parts = new Set<string>();
  let hasError = false;
  for (const { id, root, title } of sessions) {
    assert.equal(root, demoRoot());
    assert.ok(title);
    assert.equal((await client.sessions.verify(id)).verdict, "verified");
    for (const { entry } of (await client.sessions.entries(id, { from: 0, limit: 100 })).entries) {
      for (const part of entry?.parts ?? []) {
        parts.add(part.type);
        if (part.type === "tool_result" && part.error !== null) hasError = true;
        if (part.type === "child") {
          assert.ok(
            (await client.sessions.get(client.sessions.idInSameStore(id, part.session))).title,
          );
        }
      }
    }
  }
  assert.deepEqual([...parts].sort(), ["child", "reasoning", "text", "tool_call", "tool_result"]);
  assert.ok(hasError);
  assert.deepEqual(readdirSync(cwd), [], "nothing is written where the user is");
  const { stateDirectory } = userPaths();
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning: assert.fail });
  assert.deepEqual((await heads.read()).found.pins(), [], "a cache may be deleted");
});

test("one request removes the demo for good, and nothing else", async () => {
  emptyUser();
  const server = await serve();
  const client = await clientOf(server);
  const other = join(demoRoot(), "..", "other");
  mkdirSync(other);
  await client.removeDemo();
  assert.deepEqual(await client.demo(), { isShown: false });
  assert.deepEqual((await client.sessions.list()).sessions, []);
  assert.deepEqual(readdirSync(demoRoot()), ["removed"]);
  assert.ok(existsSync(other));
  const again = await clientOf(await serve());
  assert.deepEqual(await again.demo(), { isShown: false }, "after a restart, too");
  const Cookie = await cookieOf(linkOf(server.running));
  const posted = await fetch(`${server.url}/v1/demo`, { method: "POST", headers: { Cookie } });
  assert.equal(posted.status, 405);
});

test("the demo is not shown with a session, with a named root, or unless requested", async () => {
  const { user, cwd } = emptyUser();
  for (const options of [{ roots: [cwd], demo: false }, { roots: "found" as const }]) {
    const server = await startTestServer(options);
    const isPrivate = options.roots === "found";
    const client = isPrivate ? await clientOf(server) : new VerbatimClient({ url: server.url });
    assert.deepEqual(await client.demo(), { isShown: false });
  }
  await user.write({ dialect: "rye" }, [said("mine")], { root: cwd });
  const client = await clientOf(await serve());
  assert.deepEqual(await client.demo(), { isShown: false });
  assert.equal((await client.sessions.list()).sessions.length, 1);
  assert.ok(!existsSync(demoRoot()));
});

test("the demo is not shown if a session cannot be read", async () => {
  const { cwd } = emptyUser();
  mkdirSync(join(cwd, ".ai/threads/hidden-1"), { recursive: true });
  symlinkSync("/nowhere", join(cwd, ".ai/threads/hidden-1/transcript.jsonl"));
  const client = await clientOf(await serve());
  assert.deepEqual(await client.demo(), { isShown: false });
});

test("an incomplete demo is created again", async () => {
  emptyUser();
  mkdirSync(join(demoRoot(), ".ai/threads/half-1"), { recursive: true });
  const client = await clientOf(await serve());
  assert.equal((await client.sessions.list()).sessions.length, 2);
});

test("if tokens are required, removing the demo needs an admin token", async () => {
  emptyUser();
  const dataDirectory = tempDirectory();
  const { token } = await makeToken(dataDirectory, { scopes: ["read"] });
  const server = await startTestServer({ dataDirectory, roots: "found", demo: true });
  const client = new VerbatimClient({ url: server.url, token });
  assert.deepEqual(await client.demo(), { isShown: true });
  await assert.rejects(client.removeDemo());
  assert.deepEqual(await client.demo(), { isShown: true });
});
