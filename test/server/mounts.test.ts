/** Mounts: a server serves, and loads, only what it is opened with. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import { openServer } from "../../src/doors/server.ts";
import type { ServerOptions } from "../../src/server/settings/options.ts";
import { root as packageRoot } from "../cli/cli.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { JSON_TYPE, refused, startTestServer } from "./test-server.ts";

const ELSEWHERE = {
  subscriptions: "/v1/stream/__ds/subscriptions/a",
  demo: "/v1/demo",
  sessions: "/v1/sessions",
  search: "/v1/search?q=a",
  usage: "/v1/usage",
  shares: "/v1/share",
  witness: "/witness/add-checkpoint",
  viewer: "/favicon.svg",
} as const;

test("a path of a mount that was not chosen is answered with 404 and the mount's name", async () => {
  const server = await startTestServer({ mounts: ["streams"] });
  for (const [name, path] of Object.entries(ELSEWHERE)) {
    const response = await fetch(`${server.url}${path}`);
    assert.equal(response.status, 404, path);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    const message = `this server was opened without its mount ${name}, which serves this path`;
    assert.deepEqual(error, { code: "NOT_FOUND", message });
  }
  const other = await fetch(`${server.url}/v1/nothing`);
  assert.match(await other.text(), /nothing is served at this path/);
});

test("a server with streams alone serves them, its own pages and their description", async () => {
  const server = await startTestServer({ mounts: ["streams"] });
  await server.put("/a", JSON_TYPE);
  await server.post("/a", JSON_TYPE, '{"a":1}');
  assert.equal(await (await fetch(server.at("/a"))).text(), '[{"a":1}]');
  for (const path of ["/", "/live", "/health", "/ready", "/metrics"]) {
    assert.equal((await fetch(`${server.url}${path}`)).status, 200, path);
  }
  const document = await (await fetch(`${server.url}/v1/openapi.json`)).json();
  const { paths } = document as { paths: object };
  assert.ok(Object.hasOwn(paths, "/v1/stream/{path}"));
  assert.ok(!Object.hasOwn(paths, "/v1/sessions"));
});

test("a server without streams answers their paths with 404", async () => {
  const server = await startTestServer({ mounts: ["sessions", "viewer"] });
  assert.deepEqual(await refused(await fetch(server.at("/a"))), [404, "NOT_FOUND"]);
  assert.equal((await fetch(`${server.url}/v1/sessions`)).status, 200);
  assert.equal((await fetch(`${server.url}/favicon.svg`)).status, 200);
});

const root = "never-opened";

test.for<[options: Record<string, unknown>, hint: RegExp]>([
  [{ dataDirectory: root }, /dataDirectory is not an option of openServer: did you mean root\?$/],
  [{ root, prt: 1 }, /prt is not an option of openServer: did you mean port\?$/],
  [{ root, roots: [] }, /did you mean sessionRoots\?$/],
  [{ root, connectionMax: 1 }, /did you mean connectionsMax\?$/],
  [{ root, quux: 1 }, /it takes root, mounts, .* and limits in docs\/server\.md$/],
  [{ root, mounts: ["stream"] }, /a name that is not a mount: did you mean streams\?$/],
  [{ root, mounts: ["quux"] }, /not a mount: there are streams, subscriptions, /],
  [{ root, mounts: [1] }, /not a mount: there are streams, /],
  [{ root, mounts: [] }, /must be a list of streams, /],
  [{ root, mounts: "streams" }, /mounts cannot be "streams"; give an object|must be a list of/],
  [{ root, mounts: ["search"] }, /has search without sessions, which it needs$/],
  [
    { root, mounts: ["streams"], sessionRoots: [] },
    /sessionRoots is for the mount sessions, which/,
  ],
  [{ root, mounts: ["streams"], witness: "a" }, /witness is for the mount witness, which/],
  [{ root, mounts: ["streams"], allowLocalWebhooks: true }, /is for the mount subscriptions/],
])("openServer refuses %j with a hint", async ([options, hint]) => {
  const given = options as unknown as ServerOptions;
  await assert.rejects(openServer(given), (error: Error & { code?: string }) => {
    assert.equal(error.code, "BAD_SETTING");
    assert.match(error.message, hint);
    return true;
  });
});

test("a server with streams alone loads no dialect, session, share, witness or demo", async () => {
  const loaded = await modulesOf(["streams"]);
  for (const name of ["server/serve", "streams/files/local-store", "server/streams/route"]) {
    assert.ok(loaded.includes(name), name);
  }
  const others =
    /^(?:dialects|sessions|usage|evidence|guard|streams\/subscriptions\/subscriptions|server\/(?:sessions\/(?!session-limits)|shares|usage|witness|demo|received|pages\/viewer|openapi))/;
  assert.deepEqual(
    loaded.filter((name) => others.test(name)),
    [],
  );
  const all = await modulesOf(null);
  assert.ok(all.length > 2 * loaded.length, `${loaded.length} of ${all.length}`);
  assert.ok(all.some((name) => name.startsWith("dialects/")));
});

/** What a process has loaded once the server has answered an append: paths in `dist`, no suffix. */
async function modulesOf(mounts: readonly string[] | null): Promise<string[]> {
  const coverage = tempDirectory();
  const program = `
    import { openServer } from "./dist/doors/server.js";
    const mounts = ${JSON.stringify(mounts)} ?? undefined;
    const server = await openServer({ root: process.argv[1], port: 0, mounts });
    const url = server.url + "/v1/stream/a";
    const headers = { "Content-Type": "application/json" };
    await fetch(url, { method: "PUT", headers });
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    if (!response.ok) throw new Error(await response.text());
    await server.close();`;
  const args = ["--input-type=module", "-e", program, join(tempDirectory(), "data")];
  const env = { ...process.env, NODE_V8_COVERAGE: coverage };
  await promisify(execFile)(process.execPath, args, { cwd: packageRoot, env });
  const dist = pathToFileURL(join(packageRoot, "dist/")).href;
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8"));
    return (result as { url: string }[]).map(({ url }) => url);
  });
  const own = urls.filter((url) => url.startsWith(dist));
  return [...new Set(own.map((url) => url.slice(dist.length).replace(/\.js$/, "")))];
}
