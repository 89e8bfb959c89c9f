/** Replays: the same requests get the recorded answers, byte for byte, without a provider. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openRecording, type Unrecorded } from "../../src/integrations/proxy/recording.ts";
import { startProxy } from "../../src/integrations/proxy/reverse-proxy.ts";
import { anthropicJson, type ModelReply, modelServer } from "../support/model-server.ts";
import { ANTHROPIC, CHAT, RESPONSES, sseBytes } from "../support/provider-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { ask, recordedProxy, sessionsIn } from "./recorded-proxy.ts";

const say = (content: string) => ({ role: "user" as const, content });
const HELLO = { messages: [say("Hello")] };

/** Records what a program does with a server of these answers; its calls are raw. */
async function recorded(
  answer: Parameters<typeof modelServer>[0],
  program: (url: string) => Promise<unknown>,
) {
  const model = await modelServer(answer);
  const proxy = await recordedProxy(model.url, tempDirectory(), "", { raw: true });
  const result = await program(proxy.url);
  await proxy.close();
  assert.deepEqual(proxy.problems, []);
  const sessions = await sessionsIn(proxy.root);
  return { root: proxy.root, result, sessions, id: sessions[0]?.id ?? "", model };
}

/** A proxy that replays; without `live` no server is configured that exists. */
async function replayed(root: string, id: string, live?: { url: string; after: number }) {
  const recording = await openRecording(nodeHost, id, { cwd: root, root });
  assert.ok(recording !== null);
  const unrecorded: Unrecorded[] = [];
  const proxy = await startProxy({
    upstreams: new Map([["", new URL(live?.url ?? "http://127.0.0.1:1")]]),
    port: 0,
    sink: async () => {},
    replay: {
      recording,
      callsMax: live?.after ?? Number.POSITIVE_INFINITY,
      onUnrecorded: (_, why) => unrecorded.push(why),
    },
  });
  onTestFinished(proxy.close);
  return { url: proxy.url, recording, unrecorded };
}

test("streams of both SDKs are the same again, and no server is asked", async () => {
  const answer: Parameters<typeof modelServer>[0] = ({ path, json }) => {
    if (path.endsWith("/responses")) return { body: sseBytes(RESPONSES) };
    if (path.endsWith("/completions")) return { body: sseBytes(CHAT, { done: true }) };
    return { body: json.stream ? sseBytes(ANTHROPIC) : anthropicJson("Hi.") };
  };
  const program = async (url: string) => {
    const anthropic = new Anthropic({ baseURL: url, apiKey: "sk-ant-12345678" });
    const common = { model: "claude-opus-5", max_tokens: 9, system: "Be short." };
    const first = await anthropic.messages.create({ ...common, ...HELLO });
    const next = [{ role: "assistant" as const, content: first.content }, say("Will it rain?")];
    const stream = anthropic.messages.stream({ ...common, messages: [...HELLO.messages, ...next] });
    const events: unknown[] = [first];
    for await (const event of stream) events.push(event);
    events.push(await stream.finalMessage());
    const openai = new OpenAI({ baseURL: url, apiKey: "sk-12345678" });
    const asked = { model: "gpt-5.5", stream: true } as const;
    for await (const each of await openai.chat.completions.create({ ...asked, ...HELLO })) {
      events.push(each);
    }
    for await (const each of await openai.responses.create({ ...asked, input: "Hi" })) {
      events.push(each);
    }
    return events;
  };
  const { root, result, id, model } = await recorded(answer, program);
  const count = model.calls.length;
  assert.deepEqual(await program((await replayed(root, id)).url), result);
  assert.equal(model.calls.length, count);
});

test("a whole run is replayed from any of its sessions, and no other run is", async () => {
  const tools = [{ name: "look" }];
  let count = 0;
  const program = async (url: string) => {
    const texts: string[] = [];
    const post = async (body: object) => texts.push((await ask(url, body)).text);
    await post({ ...HELLO, tools });
    const assistant = { role: "assistant", content: "0" };
    await post({ messages: [...HELLO.messages, assistant, say("One way")], tools });
    await post({ messages: [...HELLO.messages, assistant, say("Another way")], tools });
    await post({ messages: [say("A title for: Another way")] });
    return texts;
  };
  const answer = () => ({ body: anthropicJson(String(count++)) });
  const { root, result, sessions, model } = await recorded(answer, program);
  assert.equal(sessions.length, 3);
  const later = await recordedProxy(model.url, root, "", { raw: true });
  await ask(later.url, { messages: [say("Something else")] });
  await later.close();
  for (const { id } of sessions) {
    const { url } = await replayed(root, id);
    assert.deepEqual(await program(url), result);
    assert.equal((await ask(url, { messages: [say("Something else")] })).status, 400);
  }
});

test("the same request gets its answers in order, with status and headers, and no more of them", async () => {
  let count = 0;
  const answer = (): ModelReply => {
    const headers = { "request-id": `req_${++count}` };
    return count === 2
      ? { body: anthropicJson("Hi."), headers }
      : { status: 529, body: '{"error":{"type":"x"}}', headers };
  };
  const post = async (url: string) => {
    const answer = await fetch(`${url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(HELLO),
    });
    return [answer.status, answer.headers.get("request-id"), await answer.text()];
  };
  const program = async (url: string) => [await post(url), await post(url), await post(url)];
  const { root, id, result } = await recorded(answer, program);
  const { url, unrecorded } = await replayed(root, id);
  assert.deepEqual(await program(url), result);
  assert.equal((await post(url))[0], 400);
  assert.match(unrecorded[0]?.message ?? "", /recorded 3 times/);
});

test("a request that was not recorded is refused with the first difference, not with a key", async () => {
  const program = async (url: string) => {
    await ask(url, { messages: [say("Hello")] });
    await ask(url, { messages: [say("Is it cold in the kitchen?")], temperature: 1 });
  };
  const { root, id } = await recorded(() => ({ body: anthropicJson("Hi.") }), program);
  const { url } = await replayed(root, id);
  const key = `sk-ant-api03-${"aB3".repeat(31)}AA`;
  const messages = [say(`Is it cold in the cellar? ${key}`)];
  const { status, text } = await ask(url, { messages, temperature: 1 }, { "x-api-key": "none" });
  const { error } = JSON.parse(text);
  assert.deepEqual(
    [status, error.type, error.path],
    [400, "not_recorded", "$.messages[0].content"],
  );
  assert.match(error.recorded, /kitchen/);
  assert.match(error.sent, /cellar/);
  assert.ok(!text.includes(key));
  const elsewhere = await fetch(`${url}/v1/responses`, { method: "POST", body: "{}" });
  assert.match(await elsewhere.text(), /no call to \/v1\/responses was recorded/);
  assert.equal((await fetch(`${url}/v1/models`)).status, 404);
});

test("volatile parts do not count: headers, keys in the path, ids of a run", async () => {
  const path = "/v1beta/models/gemini-2.5-flash:generateContent?key=AIza-one-key&alt=json";
  const post = async (url: string, target: string, metadata: object, headers = {}) => {
    const body = JSON.stringify({ contents: [{ parts: [{ text: "Hi" }] }], metadata });
    return (await fetch(url + target, { method: "POST", body, headers })).text();
  };
  const { root, id, result } = await recorded(
    () => ({ body: '{"candidates":[]}' }),
    (url) => post(url, path, { user_id: "one" }, { "x-run": "1" }),
  );
  const { url } = await replayed(root, id);
  const other = path.replace("key=AIza-one-key&alt=json", "alt=json&key=b");
  assert.equal(await post(url, other, { user_id: "two" }, { "x-run": "2" }), result);
});

test("what was compressed, cut or not UTF-8 has the same bytes", async () => {
  const events = sseBytes(ANTHROPIC);
  const replies: ModelReply[] = [
    { body: gzipSync(events), headers: { "content-encoding": "gzip" } },
    { body: Buffer.from([0xff, 0xfe, 0, 1, 0x80]) },
    { body: Buffer.from("data: é").subarray(0, 7), breaks: true },
  ];
  let at = 0;
  const program = async (url: string) => {
    const bodies: string[] = [];
    for (const [n] of replies.entries()) {
      const call = request(`${url}/v1/messages`, { method: "POST" });
      call.end(JSON.stringify({ ...HELLO, n }));
      const [answer] = await once(call, "response");
      const chunks: Buffer[] = [];
      let end = "whole";
      try {
        for await (const chunk of answer) chunks.push(chunk);
      } catch {
        end = "cut";
      }
      const bytes = Buffer.concat(chunks);
      const isGzip = answer.headers["content-encoding"] === "gzip";
      bodies.push(`${end} ${(isGzip ? events : bytes).toString("hex")}`);
    }
    return bodies;
  };
  const { root, id, result } = await recorded(() => replies[at++] as ModelReply, program);
  assert.deepEqual(await program((await replayed(root, id)).url), result);
  assert.match((result as string[])[2] ?? "", /^cut 646174613a20c3$/);
});

test("after the calls to be replayed, the provider answers", async () => {
  const { root, id } = await recorded(
    () => ({ body: anthropicJson("Recorded.") }),
    (url) => ask(url, HELLO),
  );
  const model = await modelServer(() => ({ body: anthropicJson("Live.") }));
  const { url } = await replayed(root, id, { url: model.url, after: 1 });
  assert.match((await ask(url, HELLO)).text, /Recorded/);
  assert.equal(model.calls.length, 0);
  for (const _ of [1, 2]) assert.match((await ask(url, HELLO)).text, /Live/);
  assert.equal(model.calls.length, 2);
  await fetch(`${url}/v1/models`);
  assert.equal(model.calls.length, 3);
});

test("the beginning that two requests have in common is stored once, also by a later run", async () => {
  const long = "a long message ".repeat(500);
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const root = tempDirectory();
  const messages: object[] = [say(long)];
  const texts: string[] = [];
  for (const _ of [1, 2]) {
    const proxy = await recordedProxy(model.url, root, "", { raw: true });
    for (const _ of [1, 2, 3]) {
      const { text } = await ask(proxy.url, { messages });
      texts.push(text);
      messages.push({ role: "assistant", content: JSON.parse(text).content }, say("More"));
    }
    await proxy.close();
  }
  const sessions = await sessionsIn(root);
  assert.equal(sessions.length, 1);
  const path = logOf(root);
  const count = readFileSync(path, "utf8").split(long).length - 1;
  assert.equal(count, 2); // The message, and its piece.
  const { url } = await replayed(root, sessions[0]?.id ?? "");
  for (const [n, text] of texts.entries()) {
    assert.equal((await ask(url, { messages: messages.slice(0, 2 * n + 1) })).text, text);
  }
});

test("a piece that was changed is noticed, and its call is not replayed", async () => {
  const { root, id } = await recorded(
    () => ({ body: anthropicJson("Hi.") }),
    (url) => ask(url, HELLO),
  );
  const log = logOf(root);
  const bytes = readFileSync(log, "utf8");
  writeFileSync(log, bytes.replace('\\"text\\":\\"Hi.\\"', '\\"text\\":\\"Ho.\\"'));
  assert.notEqual(readFileSync(log, "utf8"), bytes);
  assert.equal(await openRecording(nodeHost, id, { cwd: root, root }), null);
});

test("a session without calls as they were is no recording", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const proxy = await recordedProxy(model.url);
  await ask(proxy.url, HELLO);
  await proxy.close();
  const [session] = await sessionsIn(proxy.root);
  const where = { cwd: proxy.root, root: proxy.root };
  assert.equal(await openRecording(nodeHost, session?.id ?? "", where), null);
});

test("no key and no cookie is in any byte of a raw recording", async () => {
  const secrets = ["sk-ant-abcdef0123", "cookie-value-1", "set-cookie-9", "AIza-secret-1"];
  const [key, cookie, setCookie, query] = secrets as [string, string, string, string];
  // A word too short to be cut out of texts is in a header that is not stored.
  const headers = { "set-cookie": [`sid=${setCookie}; t=7x-k2q; Path=/`], "x-echo": key };
  const program = (url: string) =>
    fetch(`${url}/v1/messages?key=${query}&k=1`, {
      method: "POST",
      headers: { "x-api-key": key, cookie: `a=${cookie}` },
      body: JSON.stringify({ messages: [say(`My key is ${key}`)], note: query }),
    });
  const { root } = await recorded(() => ({ body: anthropicJson(key), headers }), program);
  for (const name of readdirSync(join(root, ".verbatim"), { recursive: true, encoding: "utf8" })) {
    if (!/\.\w+$/.test(name)) continue;
    const bytes = readFileSync(join(root, ".verbatim", name));
    for (const secret of [...secrets, "7x-k2q"])
      assert.ok(!bytes.includes(secret), `${name}: ${secret}`);
  }
});

function logOf(root: string): string {
  const sessions = join(root, ".verbatim/sessions");
  const [name = ""] = readdirSync(sessions).filter((each) => each.endsWith(".jsonl"));
  return join(sessions, name);
}
