import { expect, test } from "vitest";
import { JSON_TYPE, startTestServer } from "../../../test/server/test-server.ts";
import {
  type At,
  errorOf,
  HOOK,
  isSigned,
  PULL,
  post,
  send,
} from "../../../test/support/subscription-http.ts";
import { until } from "../../../test/support/until.ts";
import { answerWith, WebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";

test("a subscription can be created, read, created again and deleted", async () => {
  const server = await startTestServer();
  await server.put("/events/a", JSON_TYPE, { body: "[1]" });
  const asked = { ...HOOK, streams: ["manual/a"], description: "event processor" };
  const made = await send(server, "PUT", "s", asked);
  expect(made.status).toBe(201);
  expect(made.headers.get("cache-control")).toBe("no-store");
  expect(made.headers.get("x-content-type-options")).toBe("nosniff");
  const body = await made.json();
  const head = await fetch(server.at("/events/a"), { method: "HEAD" });
  expect(body).toEqual({
    id: "s",
    subscription_id: "s",
    type: "webhook",
    pattern: "events/*",
    streams: [
      {
        path: "events/a",
        link_type: "glob",
        acked_offset: head.headers.get("stream-next-offset"),
      },
      {
        path: "manual/a",
        link_type: "explicit",
        acked_offset: "0000000000000000_0000000000000000",
      },
    ],
    webhook: {
      url: "https://hooks.example.com/",
      signing: {
        alg: "ed25519",
        kid: expect.stringMatching(/^ds_/),
        jwks_url: server.at("/__ds/jwks.json"),
      },
    },
    wake_stream: null,
    lease_ttl_ms: 30_000,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    status: "active",
    description: "event processor",
  });
  const again = await send(server, "PUT", "s", asked);
  expect([again.status, await again.json()]).toEqual([200, body]);
  const found = await send(server, "GET", "s");
  expect([found.status, await found.json()]).toEqual([200, body]);
  expect(await errorOf(await send(server, "PUT", "s", { ...asked, description: "x" }))).toEqual([
    409,
    "SUBSCRIPTION_ALREADY_EXISTS",
  ]);
  expect((await send(server, "DELETE", "s")).status).toBe(204);
  expect(await errorOf(await send(server, "GET", "s"))).toEqual([404, "SUBSCRIPTION_NOT_FOUND"]);
  expect((await send(server, "DELETE", "s")).status).toBe(204);
});

test("every route below __ds accepts its methods, and no others", async () => {
  const server = await startTestServer();
  await send(server, "PUT", "s", HOOK);
  const allowed: Record<string, string> = {
    "": "GET, PUT, DELETE",
    "/streams": "POST",
    "/streams/a": "DELETE",
    "/callback": "POST",
    "/claim": "POST",
    "/ack": "POST",
    "/release": "POST",
  };
  for (const [route, methods] of Object.entries(allowed)) {
    for (const method of ["GET", "PUT", "POST", "DELETE", "PATCH"]) {
      if (methods.includes(method)) continue;
      const response = await send(server, method, `s${route}`);
      expect([response.status, response.headers.get("allow")], route).toEqual([405, methods]);
    }
  }
  for (const path of ["", "/", "/other", "/subscriptions", "/subscriptions/", "/jwks", "/a/b"]) {
    expect((await fetch(server.at(`/__ds${path}`))).status, path).toBe(404);
  }
  for (const path of ["s/other", "s/claim/more", "s/"]) {
    expect((await send(server, "POST", path, {})).status, path).toBe(404);
  }
  expect((await send(server, "GET", "%ff")).status).toBe(400);
});

test("requests for a subscription that does not exist are 404", async () => {
  const server = await startTestServer();
  const fence = { wake_id: "w", generation: 1 };
  const made = [
    send(server, "POST", "no/streams", { streams: ["a"] }),
    send(server, "DELETE", "no/streams/a"),
    send(server, "POST", "no/claim", { worker: "w" }),
    send(server, "POST", "no/ack", fence, "token"),
    send(server, "POST", "no/callback", fence, "token"),
    send(server, "POST", "no/release", fence, "token"),
  ];
  for (const response of await Promise.all(made)) {
    expect(await errorOf(response)).toEqual([404, "SUBSCRIPTION_NOT_FOUND"]);
  }
});

test("the body and the id of a request have limits", async () => {
  const server = await startTestServer();
  const { requestBytesMax, idCharsMax } = SUBSCRIPTION_LIMITS;
  const filled = (bytes: number) => {
    const start = JSON.stringify({ ...HOOK, more: "" });
    return JSON.stringify({ ...HOOK, more: "x".repeat(bytes - start.length) });
  };
  const put = (id: string, body: string) =>
    fetch(server.at(`/__ds/subscriptions/${id}`), { method: "PUT", body });
  expect((await put("full", filled(requestBytesMax))).status).toBe(201);
  expect((await put("over", filled(requestBytesMax + 1))).status).toBe(413);
  expect((await put("i".repeat(idCharsMax), JSON.stringify(HOOK))).status).toBe(201);
  expect((await put("i".repeat(idCharsMax + 1), JSON.stringify(HOOK))).status).toBe(400);
  const odd = "ä/ %";
  expect((await put(encodeURIComponent(odd), JSON.stringify(HOOK))).status).toBe(201);
  const found = await send(server, "GET", encodeURIComponent(odd));
  expect(await found.json()).toMatchObject({ id: odd });
});

test("a webhook's signature verifies with the published keys, and its callback acknowledges", async () => {
  const receiver = await WebhookReceiver.start();
  const server = await startTestServer({ allowLocalWebhooks: true });
  await send(server, "PUT", "s", { ...HOOK, webhook: { url: receiver.url } });
  await server.put("/events/a", JSON_TYPE, { body: "[1,2]" });
  const received = await receiver.next();
  const { body } = received;
  expect(await isSigned(server, received)).toBe(true);
  expect(await isSigned(server, { ...received, text: `${received.text} ` })).toBe(false);
  expect(body).toEqual({
    subscription_id: "s",
    wake_id: expect.stringMatching(/^w_/),
    generation: 1,
    streams: [
      {
        path: "events/a",
        link_type: "glob",
        acked_offset: "0000000000000000_0000000000000000",
        tail_offset: "0000000000000000_0000000000000004",
        has_pending: true,
      },
    ],
    callback_url: server.at("/__ds/subscriptions/s/callback"),
    callback_token: expect.any(String),
  });
  const { wake_id, generation, callback_token: token, callback_url: url } = body;
  const acks = [{ stream: "events/a", offset: "0000000000000000_0000000000000004" }];
  const ack = { wake_id, generation, acks, done: true };
  expect(await errorOf(await post(url, ack))).toEqual([401, "TOKEN_INVALID"]);
  expect(await errorOf(await post(`${url}?token=${token}`, { ...ack, token }))).toEqual([
    401,
    "TOKEN_INVALID",
  ]);
  const bare = await fetch(url, {
    method: "POST",
    headers: { Authorization: token },
    body: JSON.stringify(ack),
  });
  expect(bare.headers.get("www-authenticate")).toBe("Bearer");
  expect(await errorOf(bare)).toEqual([401, "TOKEN_INVALID"]);
  const good = await post(url, ack, token);
  expect([good.status, await good.json()]).toEqual([200, { ok: true, next_wake: false }]);
  expect(await errorOf(await post(url, ack, token))).toEqual([409, "FENCED"]);
});

test("the key set is public, can be cached for a while, and holds no private key", async () => {
  const server = await startTestServer();
  const response = await fetch(server.at("/__ds/jwks.json"));
  expect(response.headers.get("content-type")).toBe("application/jwk-set+json");
  expect(response.headers.get("cache-control")).toBe("public, max-age=300");
  const { keys } = (await response.json()) as { keys: object[] };
  expect(keys.map((key) => Object.keys(key).sort())).toEqual([
    ["alg", "crv", "kid", "kty", "use", "x"],
  ]);
});

test("a failing webhook is reported as failing until it is delivered", async () => {
  const receiver = await WebhookReceiver.start(answerWith({ done: true }, 500));
  const server = await startTestServer({ allowLocalWebhooks: true });
  await send(server, "PUT", "s", { ...HOOK, webhook: { url: receiver.url } });
  await server.put("/events/a", JSON_TYPE, { body: "[1]" });
  const first = await receiver.next();
  receiver.respond = answerWith({ done: true });
  await until(async () => (await status(server)) === "failed");
  const second = await receiver.next();
  expect(second.body.wake_id).toBe(first.body.wake_id);
  await until(async () => (await status(server)) === "active");
});

test("a webhook to this machine must be allowed explicitly", async () => {
  const receiver = await WebhookReceiver.start();
  const server = await startTestServer();
  const response = await send(server, "PUT", "s", { ...HOOK, webhook: { url: receiver.url } });
  expect(await errorOf(response)).toEqual([400, "WEBHOOK_URL_REJECTED"]);
});

test("streams are added and removed by name, slashes encoded or not", async () => {
  const server = await startTestServer();
  await send(server, "PUT", "s", { ...HOOK, pattern: undefined, streams: ["m/a"] });
  expect((await send(server, "POST", "s/streams", { streams: ["m/b", "/m/c/d"] })).status).toBe(
    204,
  );
  expect(await paths(server)).toEqual(["m/a", "m/b", "m/c/d"]);
  expect((await send(server, "DELETE", "s/streams/m%2Fb")).status).toBe(204);
  expect((await send(server, "DELETE", "s/streams/m/c/d")).status).toBe(204);
  expect((await send(server, "DELETE", "s/streams/m/never")).status).toBe(204);
  expect(await paths(server)).toEqual(["m/a"]);
  for (const body of [{}, { streams: "a" }, { streams: ["../x"] }, { streams: null }]) {
    const response = await send(server, "POST", "s/streams", body);
    expect(await errorOf(response)).toEqual([400, "INVALID_REQUEST"]);
  }
});

test("claim, second claim, ack and release work over HTTP", async () => {
  const server = await startTestServer();
  await server.put("/wake/pool", JSON_TYPE, { body: "[]" });
  await send(server, "PUT", "p", PULL);
  await server.put("/events/a", JSON_TYPE, { body: "[1]" });
  await until(async () => (await wakes(server)).length === 1);
  expect(await wakes(server)).toEqual([
    {
      type: "wake",
      subscription_id: "p",
      stream: "events/a",
      generation: 1,
      ts: expect.any(Number),
    },
  ]);
  const response = await send(server, "POST", "p/claim", { worker: "worker-1" });
  const claim = (await response.json()) as { token: string; wake_id: string; generation: number };
  expect(claim).toMatchObject({ generation: 1, lease_ttl_ms: 30_000 });
  const busy = await send(server, "POST", "p/claim", { worker: "worker-2" });
  expect([busy.status, await busy.json()]).toEqual([
    409,
    {
      error: {
        code: "ALREADY_CLAIMED",
        message: expect.any(String),
        current_holder: "worker-1",
        generation: 1,
      },
    },
  ]);
  const { wake_id, generation, token } = claim;
  const beat = await send(server, "POST", "p/ack", { wake_id, generation }, token);
  expect(await beat.json()).toEqual({ ok: true, next_wake: false });
  const released = await send(server, "POST", "p/release", { wake_id, generation }, token);
  expect(released.status).toBe(204);
  await until(async () => (await wakes(server)).length === 2);
  const late = await send(server, "POST", "p/ack", { wake_id, generation, done: true }, token);
  expect(await errorOf(late)).toEqual([409, "FENCED"]);
});

async function status(server: At): Promise<unknown> {
  const found = (await (await send(server, "GET", "s")).json()) as { status: unknown };
  return found.status;
}

async function paths(server: At): Promise<string[]> {
  const found = (await (await send(server, "GET", "s")).json()) as { streams: { path: string }[] };
  return found.streams.map(({ path }) => path);
}

async function wakes(server: At): Promise<unknown[]> {
  return (await (await fetch(server.at("/wake/pool"))).json()) as unknown[];
}
