import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeTime } from "../../src/core/base/time.ts";
import { startTestServer } from "../server/test-server.ts";
import { docsPage } from "../support/docs-page.ts";
import { FOLDER, SendingUser } from "./sending-user.ts";

const AT = Date.parse("2026-11-19T20:32:22.787Z");

test("the page of the format has the streams and notes that a sender makes", async () => {
  const page = docsPage("formats/remote");
  const { url } = await startTestServer();
  const user = new SendingUser();
  writeFileSync(user.path, '{"n":1}\n{"n":2}\n');
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const notes = join(user.state, "remote", hash(`${url}\n${FOLDER}`).slice(0, 16));
  const name = hash(user.stream).slice(0, 32);
  assert.equal(page.block("text stream").trim(), user.stream);

  const held: typeof fetch = () => Promise.reject(new TypeError("no network"));
  await assert.rejects(user.send(url, { fetch: held }));
  const waiting = readFileSync(join(notes, `${name}.waiting`), "utf8");
  assert.equal(waiting.replaceAll(user.root, "/home/ada/.homeagent"), page.block("jsonl waiting"));
  await user.send(url);
  assert.equal(readFileSync(join(notes, `${name}.json`), "utf8"), page.block("jsonl record"));
  assert.equal(readFileSync(join(notes, "sender.json"), "utf8"), page.block("jsonl sender"));
  assert.deepEqual(readdirSync(notes).sort(), [`${name}.json`, "sender.json"]);
});

test("the page of the format has the line that a key makes", async () => {
  const { url } = await startTestServer({ time: { ...nodeTime, nowMs: () => AT } });
  const send = (path: string, body: object, key?: string) => {
    const headers = { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) };
    return fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  };
  const created = await send("/v1/sessions", { id: "soup", folder: "cook" });
  const { url: path, end } = (await created.json()) as { url: string; end: number };
  await send(`${path}/entries`, { kind: "turn_end" }, "e1");
  const stream = "/v1/stream/sessions/cook/verbatim/.verbatim/sessions/soup.jsonl";
  const bytes = await (await fetch(`${url}${stream}`)).text();
  assert.equal(bytes.slice(end), docsPage("formats/remote").block("jsonl posted"));
});
