/** `verbatim-log/fetch`: calls of SDKs and programs, recorded inside of them. */

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { test } from "vitest";
import { inSession, wrapFetch } from "../../src/doors/fetch.ts";
import { openStore } from "../../src/doors/index.ts";
import { anthropicJson, modelServer, responsesJson } from "../support/model-server.ts";
import { ANTHROPIC, sseBytes } from "../support/provider-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { ask, sessionsIn } from "./recorded-proxy.ts";

const HELLO = { messages: [{ role: "user" as const, content: "Hello" }] };

async function twoSessions() {
  const root = tempDirectory();
  const store = await openStore({ root, remember: false, durability: "os" });
  const [one, other] = [await store.create({ title: "one" }), await store.create()];
  return { root, store, one, other };
}

test("the SDKs of Anthropic and OpenAI record through it, each call in the current session", async () => {
  const model = await modelServer(({ json, path }) => ({
    body: path.endsWith("/responses")
      ? responsesJson("Hi from OpenAI.")
      : json.stream
        ? sseBytes(ANTHROPIC)
        : anthropicJson("Hi."),
  }));
  const { root, store, one, other } = await twoSessions();
  const recording = wrapFetch(fetch, { session: one });
  const anthropic = new Anthropic({ baseURL: model.url, apiKey: "sk-ant-12345", fetch: recording });
  const openai = new OpenAI({ baseURL: model.url, apiKey: "sk-12345678", fetch: recording });
  const common = { model: "claude-opus-5", max_tokens: 9 };
  const first = await anthropic.messages.create({ ...common, ...HELLO });
  await inSession(other, () => openai.responses.create({ model: "gpt-5.5", input: "Bye" }));
  const answer = { role: "assistant" as const, content: first.content };
  const messages = [...HELLO.messages, answer, { role: "user" as const, content: "More?" }];
  const { usage } = await anthropic.messages.stream({ ...common, messages }).finalMessage();
  await recording.recorded();
  await store.close();

  assert.equal(usage.output_tokens, 89);
  const sessions = await sessionsIn(root);
  const said = new Map(sessions.map((session) => [session.id, session.said]));
  assert.deepEqual(said.get(one.id)?.slice(0, 3), ["user: Hello", "assistant: Hi.", "user: More?"]);
  assert.deepEqual(said.get(other.id), ["user: Bye", "assistant: Hi from OpenAI."]);
});

test("without a session the other fetch is called as it is", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const recording = wrapFetch(fetch);
  const answer = await recording(`${model.url}/v1/messages`, { method: "POST", body: "{}" });
  assert.equal(answer.url, `${model.url}/v1/messages`);
  await recording.recorded();
});

test("a reader that stops ends the provider's answer, and a request body is sent unchanged", async () => {
  const body = sseBytes(ANTHROPIC.slice(0, 11));
  const model = await modelServer(() => ({ body, rest: new Promise(() => {}) }));
  const { root, store, one } = await twoSessions();
  const recording = wrapFetch(fetch, { session: one });
  const sent = JSON.stringify({ ...HELLO, stream: true });
  const request = new Request(`${model.url}/v1/messages`, { method: "POST", body: sent });
  const answer = await recording(request);
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await recording.recorded();
  await store.close();

  assert.equal(model.calls[0]?.body.toString(), sent);
  const session = (await sessionsIn(root)).find(({ id }) => id === one.id);
  assert.equal(session?.entries.at(-1).isPartial, true);
});

test("a session that refuses is reported once for each call, and the call goes on", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const problems: unknown[] = [];
  const session = { append: async () => Promise.reject(new Error("full")) };
  const recording = wrapFetch(fetch, { session, onProblem: (cause) => problems.push(cause) });
  const before = globalThis.fetch;
  globalThis.fetch = recording;
  try {
    assert.equal((await ask(model.url, HELLO)).status, 200);
  } finally {
    globalThis.fetch = before;
  }
  await recording.recorded();
  assert.deepEqual(problems.map(String), ["Error: full"]);
});

test("a wrong call is refused", () => {
  const unchecked = wrapFetch as (...args: unknown[]) => unknown;
  const isRefused = { code: "BAD_SETTING" };
  assert.throws(() => unchecked("fetch"), isRefused);
  assert.throws(() => unchecked(fetch, { sesion: {} }), isRefused);
  assert.throws(() => unchecked(fetch, { session: {} }), isRefused);
  assert.throws(() => inSession({} as never, () => 1), isRefused);
});
