import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { startTestServer } from "../server/test-server.ts";
import { docsPage } from "../support/docs-page.ts";
import { FOLDER, SendingUser } from "./sending-user.ts";

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
