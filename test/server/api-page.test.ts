/** docs/api.md: its examples run unchanged, and its limits are the server's. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SESSION_LIMITS } from "../../src/server/sessions/session-limits.ts";
import { docsPage } from "../support/docs-page.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { everyDialect, newUser, type SessionPage, serveSessions } from "./sessions/served.ts";

const execute = promisify(execFile);
const page = docsPage("api");

test("the page's commands print what it says", async () => {
  const root = await everyDialect(newUser());
  const { server, json } = await serveSessions([root], { eventStreamMs: 300 });
  const [session] = (await json<SessionPage>("?dialect=rye")).sessions;
  const env = { ...process.env, URL: server.url, ID: session?.id ?? "" };
  const run = async (name: string) => {
    const script = page
      .block(`sh ${name}`)
      .replaceAll("curl ", "curl --silent --show-error --fail ");
    return (await execute("sh", ["-e", "-c", script], { env })).stdout;
  };
  assert.equal(JSON.parse(await run("list")).sessions.length, 1);
  assert.equal(JSON.parse(await run("session")).id, session?.id);
  assert.equal(JSON.parse(await run("search")).hits.length, 3);
  assert.ok(JSON.parse(await run("usage")).prices.table !== "");
  assert.ok(Array.isArray(JSON.parse(await run("tools")).tools));
  assert.ok(JSON.parse(await run("entries")).entries.length > 0);
  assert.match(await run("live"), /^event: entry$/m);
  assert.match(await run("bytes"), /"checkpoints":\[\{"line":/);
  const created = JSON.parse(await run("write"));
  const posted = JSON.parse(docsPage("formats/remote").block("json posted-answer"));
  assert.deepEqual(Object.keys(created), Object.keys(posted));
  Object.assign(env, { NEW: created.id });
  assert.equal(JSON.parse(await run("append")).entries.length, 2);
  const rest = await run("rest");
  for (const said of ["first in rye", '"verdict":"verified"', '"totalTokens":', '"calls":']) {
    assert.ok(rest.includes(said), said);
  }
});

test("the page's program runs", async () => {
  // Method: the unchanged program, on the entry point's source; its output is captured.
  const root = await everyDialect(newUser());
  const { server } = await serveSessions([root]);
  const directory = tempDirectory();
  const client = fileURLToPath(new URL("../../src/doors/client.ts", import.meta.url));
  const program = page.block("js client").replace('"verbatim-log/client"', JSON.stringify(client));
  const path = join(directory, "program.test.mjs");
  writeFileSync(path, program.replaceAll("console.log", "said.push"));
  const said: unknown[] = [];
  Object.assign(globalThis, { said });
  process.env.URL = server.url;
  await import(path);
  assert.deepEqual(said, ["first in rye", 2, true, "verified", [{ hello: "world" }]]);
});

test("the page's limits are the server's", () => {
  const { sessionsDefault, sessionsMax, entriesDefault, entriesMax, bytesMax } = SESSION_LIMITS;
  expect(page.text).toContain(`page size: ${sessionsDefault}, up to ${sessionsMax}`);
  expect(page.text).toContain(`number of entries: ${entriesDefault}, up to ${entriesMax}`);
  expect(page.text).toContain(`about ${bytesMax / 2 ** 20} MiB of lines`);
  expect(page.text).toContain(`up to ${bytesMax / 2 ** 20} MiB at once`);
  expect(page.text).toContain(`more than ${SESSION_LIMITS.restingBytes / 2 ** 20} MiB`);
  const { hitsDefault, hitsMax } = SESSION_LIMITS;
  expect(page.text).toContain(`number of entries: ${hitsDefault}, up to ${hitsMax}`);
  const { entriesExaminedMax, searchWaitMs, usageWaitMs, usageToolsMax } = SESSION_LIMITS;
  const { usageListedDefault, usageListedMax, usageGroupsMax } = SESSION_LIMITS;
  expect(page.text).toContain(`${entriesExaminedMax.toLocaleString("en")} entries at most`);
  expect([searchWaitMs, usageWaitMs]).toEqual([500, 500]); // Half a second.
  expect(page.text).toContain(`${usageListedDefault} each, up to ${usageListedMax}`);
  expect(page.text).toContain(
    `${usageGroupsMax.toLocaleString("en")} agents, projects and models, and ${usageToolsMax} tools`,
  );
  const { readersMax, waitingMax, followersMax } = SESSION_LIMITS;
  expect(page.text).toContain(`${readersMax} answers are made from logs at once and ${waitingMax}`);
  expect(page.text).toContain(`${followersMax} live readers`);
  expect(page.text).toContain(`${SESSION_LIMITS.answersBytesMax / 2 ** 20} MiB of answers`);
});
