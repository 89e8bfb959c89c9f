import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { JSON_TYPE } from "../../../test/server/test-server.ts";
import { startChild } from "../../../test/support/child.ts";
import { HOOK, isSigned, PULL, post, send } from "../../../test/support/subscription-http.ts";
import { diskDirectory } from "../../../test/support/temp-directory.ts";
import { answerWith, WebhookReceiver } from "../../../test/support/webhook-receiver.ts";

test("a server killed with -9 continues: subscriptions, keys, tokens, webhooks in progress", async () => {
  const directory = diskDirectory();
  const receiver = await WebhookReceiver.start(() => {}); // Does not answer.
  const first = startChild("test/support/serving-child.ts", directory);
  const url = (await first.line()) ?? assert.fail("it did not start");
  const port = new URL(url).port;
  const server = { at: (path: string) => `${url}/v1/stream${path}` };
  await send(server, "PUT", "s", { ...HOOK, webhook: { url: receiver.url } });
  await send(server, "PUT", "p", { ...PULL, pattern: "events/**" });
  const headers = { "Content-Type": JSON_TYPE };
  await fetch(server.at("/events/a"), { method: "PUT", headers, body: "[1]" });
  const wake = await receiver.next();
  const claim = await (await send(server, "POST", "p/claim", { worker: "w" })).json();
  await first.kill();
  receiver.respond = answerWith({});
  const second = startChild("test/support/serving-child.ts", directory, port);
  expect(await second.line()).toBe(url);
  const again = await receiver.next();
  expect(again.body.wake_id).toBe(wake.body.wake_id);
  expect(await isSigned(server, wake)).toBe(true); // The key is the same.
  const { wake_id, generation, callback_token: token, callback_url } = wake.body;
  const acks = [{ stream: "events/a", offset: wake.body.streams[0]?.tail_offset }];
  const called = await post(callback_url, { wake_id, generation, acks, done: true }, token);
  expect(await called.json()).toEqual({ ok: true, next_wake: false });
  const held = claim as { wake_id: string; generation: number; token: string };
  const fence = { wake_id: held.wake_id, generation: held.generation };
  const acked = await send(server, "POST", "p/ack", { ...fence, acks, done: true }, held.token);
  expect(await acked.json()).toEqual({ ok: true, next_wake: false });
});
