/** A witness over HTTP: its routes, without tokens, and nothing of the server's own in its answers. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { SUBMISSION_BYTES_MAX } from "../../src/evidence/witness/witness.ts";
import { startServer } from "../../src/server/serve.ts";
import { SigningUser } from "../support/signing-user.ts";
import { bodyOf, cosignedAt, extension, leavesOf, sha256 } from "../support/tlog.ts";
import { ORIGIN, Witnessing } from "../support/witnessing.ts";
import { makeToken } from "./auth/token-user.ts";
import { check } from "./described.ts";
import { startTestServer } from "./test-server.ts";

const HASH = sha256(ORIGIN).toString("hex");

test("a server that is a witness answers add-checkpoint and the newest checkpoint", async () => {
  new SigningUser();
  const own = new Witnessing();
  const { url, running } = await startTestServer({ witness: join(own.home, "logs") });
  const add = async (body: string) => {
    const answer = await fetch(`${url}/witness/add-checkpoint`, { method: "POST", body });
    await check("/witness/add-checkpoint", answer.clone(), "POST");
    return answer;
  };
  const newest = async () => {
    const answer = await fetch(`${url}/witness/${HASH}/checkpoint`);
    await check("/witness/{origin}/checkpoint", answer.clone());
    return answer;
  };
  assert.equal((await newest()).status, 404);
  const first = await add(own.request(0, 3));
  const line = await first.text();
  assert.equal(first.status, 200);
  const body = bodyOf(ORIGIN, leavesOf(3), extension(3));
  assert.ok(cosignedAt(body, line, running.witnessKey ?? ""));
  const note = await newest();
  assert.equal(note.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(await note.text(), `${own.log.note(body)}${line}`);
  const conflict = await add(own.request(0, 4));
  assert.deepEqual([conflict.status, await conflict.text()], [409, "3\n"]);
  assert.equal(conflict.headers.get("content-type"), "text/x.tlog.size");
  assert.equal((await add("x")).status, 400);
  assert.equal((await add("x".repeat(SUBMISSION_BYTES_MAX + 1))).status, 413);
  assert.equal((await fetch(`${url}/witness/add-checkpoint`)).status, 405);
  assert.equal((await fetch(`${url}/witness/x/checkpoint`)).status, 404);
});

test("a server that is not a witness has no such routes and makes no key for it", async () => {
  const { url, running } = await startTestServer();
  assert.equal(running.witnessKey, null);
  const asked = await fetch(`${url}/witness/add-checkpoint`, { method: "POST", body: "x" });
  assert.equal(asked.status, 404);
});

test("a witness needs no token where everything else does, and answers faults without paths", async () => {
  new SigningUser();
  const own = new Witnessing();
  const dataDirectory = join(own.home, "data");
  const faults: string[] = [];
  await makeToken(dataDirectory);
  const server = await startServer({
    dataDirectory,
    port: 0,
    witness: join(own.home, "logs"),
    onFault: (what, cause) => faults.push(`${what}: ${String((cause as Error).cause)}`),
  });
  try {
    const add = (body: string) =>
      fetch(`${server.url}/witness/add-checkpoint`, { method: "POST", body });
    assert.equal((await fetch(`${server.url}/v1/stream/x`)).status, 401);
    assert.equal((await add(own.request(0, 3))).status, 200);
    rmSync(join(own.home, "logs"));
    const answer = await add(own.request(3, 4));
    assert.equal(answer.status, 500);
    assert.ok(!(await answer.text()).includes(own.home));
    assert.match(faults.join(), /there is no such file/);
  } finally {
    await server.close();
  }
});
