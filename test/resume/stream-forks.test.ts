/** A signed fork of a stream is resumed from what was judged of it and of its sources. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openVerifiedSession } from "../../src/evidence/verify/verified-entries.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { refusal } from "../support/refusal.ts";
import { JSON_STREAM, message, SignedStreams } from "../support/signed-streams.ts";

/** A chat, a fork of it, and a fork of that; signed, with the server stopped. */
async function forked(): Promise<SignedStreams> {
  const streams = new SignedStreams();
  const store = await streams.open();
  const say = (path: string, content: string, role = "user") => {
    return store.append(path, message({ role, content }));
  };
  await store.create("/chat", JSON_STREAM);
  await say("/chat", "hello");
  await say("/chat", "hi", "assistant");
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/chat" } });
  await say("/chat", "after the fork");
  await say("/fork", "in the fork");
  await store.create("/again", { ...JSON_STREAM, fork: { source: "/fork" } });
  await say("/again", "sure", "assistant");
  await say("/again", "in the second");
  await store.close();
  return streams;
}

const OPTIONS = { for: "openai-chat", policy: "strict", prompt: null } as const;

function resumed({ directory: root }: SignedStreams, id: string, more = {}) {
  return resumeSession(nodeHost, id, { ...OPTIONS, root, dialect: "streams", ...more });
}

async function wordsOf(streams: SignedStreams, id: string): Promise<unknown[]> {
  return (await resumed(streams, id)).messages.map(({ content }) => content);
}

function change({ directory }: SignedStreams, file: string, from: string, to: string): void {
  const path = join(directory, "logs", file);
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
}

test("a signed fork, and a fork of one, is resumed strictly with what it has from its sources", async () => {
  const streams = await forked();
  assert.deepEqual(await wordsOf(streams, "/fork"), ["hello", "hi", "in the fork"]);
  const again = await resumed(streams, "/again");
  const words = again.messages.map(({ content }) => content);
  assert.deepEqual(words, ["hello", "hi", "in the fork", "sure", "in the second"]);
  const { verdict, unverified, head } = again.report;
  assert.deepEqual([verdict, unverified, head === null], ["verified", 0, false]);
});

test("a fork whose source was altered before the fork is not resumed", async () => {
  const streams = await forked();
  change(streams, "chat.jsonl", "hello", "jello");
  for (const id of ["/fork", "/again"]) {
    const { message: why } = await refusal(resumed(streams, id), "NOT_VERIFIED");
    assert.match(why, /chat/);
    await refusal(resumed(streams, id, { policy: "lenient" }), "NOT_VERIFIED");
  }
});

test("unsigned entries of a fork are used leniently, and marked", async () => {
  const streams = await forked();
  const forged = '{"role":"user","content":"forged"}\n';
  appendFileSync(join(streams.directory, "logs/fork.jsonl"), forged);
  await refusal(resumed(streams, "/fork"), "NOT_VERIFIED");
  const where = { root: streams.directory, dialect: "streams", policy: "lenient" } as const;
  const session = await openVerifiedSession(nodeHost, "/fork", where);
  const marks: boolean[] = [];
  for await (const { verified } of session.entries()) marks.push(verified);
  session.close();
  assert.deepEqual(marks, [true, true, true, false]);
});

test("a source that is changed after its fork was judged is not read from", async () => {
  const streams = await forked();
  const where = { root: streams.directory, dialect: "streams", policy: "strict" } as const;
  const session = await openVerifiedSession(nodeHost, "/fork", where);
  change(streams, "chat.jsonl", "hello", "jello");
  const reading = (async () => {
    for await (const entry of session.entries()) assert.ok(entry.verified);
  })();
  await refusal(reading, "CHANGED_WHILE_READ");
  session.close();
});
