/** The proxy: bytes pass unchanged and at once, whatever is recorded of them. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { test } from "vitest";
import { anthropicJson, modelServer, responsesJson } from "../support/model-server.ts";
import { ANTHROPIC, CHAT, RESPONSES, sseBytes } from "../support/provider-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { ask, recordedProxy, sessionsIn } from "./recorded-proxy.ts";

const CLAUDE_CODE = { "x-claude-code-session-id": "s1", "user-agent": "claude-cli/2.1" };
const HELLO = { messages: [{ role: "user" as const, content: "Hello" }] };

test("a conversation over Anthropic's SDK is one session, streamed or not", async () => {
  const model = await modelServer(({ json }) => ({
    body: json.stream ? sseBytes(ANTHROPIC) : anthropicJson("Hi."),
  }));
  const proxy = await recordedProxy(model.url);
  const client = new Anthropic({ baseURL: proxy.url, apiKey: "sk-ant-none-12345" });
  const common = { model: "claude-opus-5", max_tokens: 9, system: "Be short." };
  const first = await client.messages.create({ ...common, ...HELLO });
  const rest = [
    { role: "assistant" as const, content: first.content },
    { role: "user" as const, content: "Will it rain?" },
  ];
  const messages = [...HELLO.messages, ...rest];
  const stream = client.messages.stream({ ...common, messages });
  const last = await stream.finalMessage();
  await proxy.close();

  assert.equal(last.usage.output_tokens, 89);
  const [session, ...others] = await sessionsIn(proxy.root);
  assert.deepEqual(others, []);
  assert.deepEqual(session?.said.slice(0, 4), [
    "system: Be short.",
    "user: Hello",
    "assistant: Hi.",
    "user: Will it rain?",
  ]);
  const answer = session?.entries.at(-1);
  assert.deepEqual([answer.usage.cacheReadTokens, answer.usage.outputTokens], [2000, 89]);
  assert.equal(answer.messageId, "msg_01");
  assert.ok(answer.parts.some(({ type }: { type: string }) => type === "tool_call"));
  assert.ok(answer.metadata.wire.durationMs >= answer.metadata.wire.firstByteMs);
});

test("Codex, which has its tools among its messages, is recorded under its own name", async () => {
  const model = await modelServer(() => ({ body: responsesJson("Hi.") }));
  const proxy = await recordedProxy(`${model.url}/v1`, tempDirectory(), "openai");
  const input = [
    { type: "additional_tools", role: "developer", tools: [{ type: "custom", name: "exec" }] },
    { type: "message", role: "developer", content: [{ type: "input_text", text: "Be short." }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
    { type: "configuration_update", reasoning: { effort: "low" } },
  ];
  const headers = { "thread-id": "t1", "user-agent": "codex_exec/0.169.0" };
  const body = JSON.stringify({ model: "gpt-5.5", input });
  await fetch(`${proxy.url}/openai/responses`, { method: "POST", headers, body });
  await proxy.close();
  const [session, ...others] = await sessionsIn(proxy.root);
  assert.deepEqual([session?.id, others], ["codex.t1", []]);
  assert.deepEqual(session?.said, [
    "system: Be short.",
    "user: Hello",
    "system: [other]",
    "assistant: Hi.",
  ]);
});

test("an answer that does not name its model has the one that was asked for", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.", { model: undefined }) }));
  const proxy = await recordedProxy(model.url);
  await ask(proxy.url, HELLO);
  await proxy.close();
  const [session] = await sessionsIn(proxy.root);
  assert.equal(session?.entries.at(-1).model, "claude-opus-5");
});

test("both of OpenAI's APIs are recorded over its SDK, streamed or not", async () => {
  const chat = {
    id: "chatcmpl-000000000000000000001",
    object: "chat.completion",
    model: "gpt-5.5",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
  const model = await modelServer(({ json, path }) => {
    if (path.endsWith("/responses")) {
      return { body: json.stream ? sseBytes(RESPONSES) : responsesJson("Hi.") };
    }
    return { body: json.stream ? sseBytes(CHAT, { done: true }) : JSON.stringify(chat) };
  });
  const proxy = await recordedProxy(`${model.url}/v1`);
  const client = new OpenAI({ baseURL: proxy.url, apiKey: "sk-none-123456" });
  const asked = { model: "gpt-5.5", ...HELLO };
  await client.chat.completions.create({ ...asked, n: 1 });
  for await (const _ of await client.chat.completions.create({ ...asked, stream: true }));
  const { id } = await client.responses.create({ model: "gpt-5.5", input: "Hello" });
  const next = { model: "gpt-5.5", input: "And now?", previous_response_id: id };
  for await (const _ of await client.responses.create({ ...next, stream: true }));
  await proxy.close();

  const sessions = await sessionsIn(proxy.root);
  assert.equal(sessions.length, 3); // A chat completion that is asked again is another run.
  assert.deepEqual(sessions[0]?.said, ["user: Hello", "assistant: Hi."]);
  assert.deepEqual(sessions[0]?.entries.at(-1).usage.totalTokens, 5);
  const last = sessions.at(-1);
  assert.deepEqual(last?.said.slice(0, 3), ["user: Hello", "assistant: Hi.", "user: And now?"]);
  assert.equal(last?.entries.at(-1).usage.inputTokens !== null, true);
});

test("Gemini is recorded, as events and as a list, and its key is not", async () => {
  const chunk = (text: string, more = {}) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...more }],
    modelVersion: "gemini-2.5-flash",
    responseId: "r-00000000000000000001",
    usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 },
  });
  const chunks = [chunk("Good "), chunk("day.", { finishReason: "STOP" })];
  const model = await modelServer(({ path }) => ({
    body: path.includes("alt=sse") ? sseBytes(chunks) : JSON.stringify(chunks),
  }));
  const proxy = await recordedProxy(model.url);
  const path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?key=AIza-secret-key";
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
  const post = async (query: string, body: object) =>
    (await fetch(proxy.url + path + query, { method: "POST", body: JSON.stringify(body) })).text();
  await post("&alt=sse", { contents, systemInstruction: { parts: [{ text: "Be kind." }] } });
  contents.push({ role: "model", parts: [{ text: "Good day." }] });
  contents.push({ role: "user", parts: [{ text: "Bye AIza-secret-key" }] });
  await post("", { contents });
  await proxy.close();

  const [session, ...others] = await sessionsIn(proxy.root);
  assert.deepEqual(others, []);
  assert.deepEqual(session?.said, [
    "system: Be kind.",
    "user: Hello",
    "assistant: Good day.",
    "user: Bye [removed by verbatim]",
    "assistant: Good day.",
  ]);
  assert.equal(session?.entries.at(-1).stopReason, "STOP");
  assertNowhere(proxy.root, "AIza-secret");
});

const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdStored,
};

test.each(Object.entries(ENCODINGS))(
  "%s passes unchanged, and is read",
  async (encoding, encode) => {
    const sent = Buffer.from(JSON.stringify({ model: "claude-opus-5", ...HELLO }));
    const asked = encode(sent);
    const answered = encode(Buffer.from(anthropicJson("Hi.")));
    const headers = { "content-encoding": encoding };
    const model = await modelServer(() => ({ body: answered, headers }));
    const proxy = await recordedProxy(model.url);
    const call = request(`${proxy.url}/v1/messages`, { method: "POST", headers });
    call.end(asked);
    const [answer] = await once(call, "response");
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece);
    await proxy.close();

    assert.ok(model.calls[0]?.body.equals(asked));
    assert.ok(Buffer.concat(pieces).equals(answered));
    const [session] = await sessionsIn(proxy.root);
    assert.deepEqual(session?.said, ["user: Hello", "assistant: Hi."]);
  },
);

test("the first byte does not wait for the rest, nor for the disk", async () => {
  let finish = (_: string) => {};
  const rest = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const events = sseBytes(ANTHROPIC);
  const model = await modelServer(() => ({ body: events.subarray(0, 300), rest }));
  const proxy = await recordedProxy(model.url);
  const answer = await fetch(`${proxy.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({ ...HELLO, stream: true }),
  });
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  assert.equal(Buffer.from(first?.value ?? []).length, 300); // The provider has not finished.
  finish(events.subarray(300).toString());
  while (!(await reader?.read())?.done);
});

test("a caller that breaks off ends the provider's answer; what came is kept as partial", async () => {
  const model = await modelServer(() => ({
    body: sseBytes(ANTHROPIC.slice(0, 11)),
    rest: new Promise(() => {}),
  }));
  const proxy = await recordedProxy(model.url);
  const stopping = new AbortController();
  const answer = await fetch(`${proxy.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({ ...HELLO, stream: true }),
    signal: stopping.signal,
  });
  await answer.body?.getReader().read();
  stopping.abort();
  await until(() => model.abandoned() === 1, "the provider's connection ends");
  await proxy.close();

  const [session] = await sessionsIn(proxy.root);
  const last = session?.entries.at(-1);
  assert.deepEqual([last.isPartial, last.metadata.wire.end], [true, "cancelled"]);
});

test.each([
  ["a header and tools", CLAUDE_CODE, { tools: [{ name: "look", input_schema: {} }] }],
  ["a header and no tools", CLAUDE_CODE, {}],
  ["no header", {}, {}],
])(
  "after a restart, a retry continues the session of the call that was cut: %s",
  async (...row) => {
    const [, headers, more] = row;
    const cut = { body: sseBytes(ANTHROPIC.slice(0, 11)), breaks: true } as const;
    const whole = { body: anthropicJson("Hi.") };
    const model = await modelServer(({ json }) => (json.stream ? cut : whole));
    const root = tempDirectory();
    const history = [...HELLO.messages, { role: "assistant" as const, content: "Hi." }];
    const messages = [...history, { role: "user" as const, content: "More?" }];
    for (const stream of [true, false]) {
      const proxy = await recordedProxy(model.url, root);
      if (stream) await ask(proxy.url, { ...HELLO, ...more }, headers);
      const call = ask(proxy.url, { ...more, messages, stream }, headers);
      if (stream) await assert.rejects(call);
      else await call;
      await proxy.close();
    }

    const [session, ...others] = await sessionsIn(root);
    assert.deepEqual(others, []);
    const answers = session?.entries.filter(({ role }) => role === "assistant") ?? [];
    const ends = answers.map(({ isPartial, metadata: { wire } }) => [isPartial, wire.attempt]);
    assert.deepEqual(ends, [
      [undefined, undefined],
      [true, undefined],
      [undefined, 2],
    ]);
    assert.equal(session?.said.filter((words) => words === "user: More?").length, 1);
  },
);

test("an answer that the provider cut is cut for the caller, too", async () => {
  const body = sseBytes(ANTHROPIC.slice(0, 11));
  const model = await modelServer(() => ({ body, breaks: true }));
  const proxy = await recordedProxy(model.url);
  await assert.rejects(ask(proxy.url, { ...HELLO, stream: true }));
  await proxy.close();

  const [session] = await sessionsIn(proxy.root);
  const last = session?.entries.at(-1);
  assert.deepEqual([last.isPartial, last.metadata.wire.end], [true, "cut"]);
});

test("errors and retries of an SDK are in one session", async () => {
  const failure = { type: "error", error: { type: "overloaded_error", message: "Too busy." } };
  const model = await modelServer(() =>
    model.calls.length < 3
      ? { status: 529, body: JSON.stringify(failure), headers: { "retry-after-ms": "1" } }
      : { body: anthropicJson("Hi."), headers: { "request-id": "req_1" } },
  );
  const proxy = await recordedProxy(model.url);
  const client = new Anthropic({ baseURL: proxy.url, apiKey: "sk-ant-none-12345", maxRetries: 2 });
  await client.messages.create({ model: "claude-opus-5", max_tokens: 9, ...HELLO });
  await proxy.close();

  const [session, ...others] = await sessionsIn(proxy.root);
  assert.deepEqual(others, []);
  assert.deepEqual(session?.said, ["user: Hello", "assistant: Hi."]);
  const failures = session?.entries.filter(({ error }) => error !== null) ?? [];
  assert.deepEqual(failures[0]?.error, { code: "overloaded_error", detail: "Too busy." });
  assert.equal(failures.length, 2);
  const { status, attempt, requestId } = session?.entries.at(-1).metadata.wire ?? {};
  assert.deepEqual([status, attempt, requestId], [200, 3, "req_1"]);
});

test("a provider that cannot be reached is an error for the caller and in the session", async () => {
  const proxy = await recordedProxy("http://127.0.0.1:1");
  assert.equal((await ask(proxy.url, HELLO)).status, 502);
  await proxy.close();
  const [session] = await sessionsIn(proxy.root);
  assert.equal(session?.entries.at(-1).error.code, "unreachable");
});

test("no key and no cookie is in any byte that is stored", async () => {
  const secrets = ["sk-ant-abcdef0123", "bearer-token-xyz", "cookie-value-1", "set-cookie-9"];
  const [key, token, cookie, setCookie] = secrets as [string, string, string, string];
  const echo = () => anthropicJson(`You sent ${key}, ${token} and ${cookie}.`);
  const model = await modelServer(({ json }) => ({
    body: json.fails ? JSON.stringify({ error: { type: "x", message: key } }) : echo(),
    ...(json.fails ? { status: 401 } : {}),
    headers: { "set-cookie": [`sid=${setCookie}; Path=/`] },
  }));
  const proxy = await recordedProxy(model.url);
  const headers = { "x-api-key": key, authorization: `Bearer ${token}`, cookie: `a=${cookie}` };
  await ask(proxy.url, { messages: [{ role: "user", content: `My key is ${key}` }] }, headers);
  await ask(proxy.url, { ...HELLO, fails: true }, headers);
  await ask(proxy.url, { nonsense: key }, headers);
  await proxy.close();
  for (const secret of secrets) assertNowhere(proxy.root, secret);
  assert.equal(model.calls[0]?.headers["x-api-key"], key);
});

test("if recording fails, calls go on", async () => {
  const root = tempDirectory();
  writeFileSync(join(root, ".verbatim"), "no directory");
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const proxy = await recordedProxy(model.url, root);
  for (const _ of [1, 2]) assert.equal((await ask(proxy.url, HELLO)).status, 200);
  await proxy.close();
  assert.ok(proxy.problems.length > 0);
});

test("a body of 100 MB passes, and is kept next to the log", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("A large one.") }));
  const proxy = await recordedProxy(model.url);
  const data = "A".repeat(100 * 1024 * 1024);
  const source = { type: "base64", media_type: "image/png", data };
  const messages = [{ role: "user", content: [{ type: "image", source }] }];
  assert.equal((await ask(proxy.url, { messages })).status, 200);
  await proxy.close();
  assert.deepEqual(proxy.problems, []);
  const names = readdirSync(join(proxy.root, ".verbatim/sessions"));
  assert.equal(names.filter((name) => name.endsWith(".spill")).length, 1);
});

test("a body that is not understood passes, and is recorded as such", async () => {
  const model = await modelServer(() => ({ body: "neither JSON nor events" }));
  const proxy = await recordedProxy(model.url);
  assert.equal((await ask(proxy.url, HELLO)).text, "neither JSON nor events");
  await fetch(`${proxy.url}/v1/messages`, { method: "POST", body: "no JSON" });
  await fetch(`${proxy.url}/v1/models`); // Not a call to a model.
  await proxy.close();

  const sessions = await sessionsIn(proxy.root);
  const natives = sessions.flatMap(({ entries }) =>
    entries.filter(({ kind }) => kind === "other").map(({ parts }) => parts[0].native),
  );
  assert.deepEqual(
    natives.map(({ type, text }) => [type, text]),
    [
      ["unread_answer", "neither JSON nor events"],
      ["unread_request", "no JSON"],
      ["unread_answer", "neither JSON nor events"],
    ],
  );
});

test("a call goes nowhere but to the configured servers, and no page of a browser may call", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const proxy = await recordedProxy(model.url, tempDirectory(), "anthropic");
  assert.equal((await ask(`${proxy.url}/anthropic`, HELLO)).status, 200);
  assert.equal((await ask(`${proxy.url}/other`, HELLO)).status, 404);
  const absolute = request(proxy.url, { path: "http://example.com/v1/messages", method: "POST" });
  absolute.end();
  assert.equal((await once(absolute, "response"))[0].statusCode, 404);
  for (const headers of [{ host: "example.com" }, { "sec-fetch-site": "cross-site" }]) {
    const call = request(`${proxy.url}/anthropic/v1/messages`, { method: "POST", headers });
    call.end("{}");
    assert.equal((await once(call, "response"))[0].statusCode, 403);
  }
  assert.equal(model.calls.length, 1);
});

function assertNowhere(root: string, secret: string): void {
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const path = join(root, name);
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch {
      continue; // A directory.
    }
    assert.ok(!bytes.includes(secret), `${name} has ${secret}`);
    assert.ok(!bytes.includes(Buffer.from(secret).toString("base64").slice(0, -4)), name);
  }
}

/** A zstd frame with one raw block: stored, not compressed. Node 20 has no zstd. */
function zstdStored(bytes: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4); // One segment, its size in 4 bytes.
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
}
