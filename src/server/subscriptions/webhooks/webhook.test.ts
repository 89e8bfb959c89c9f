import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Gate } from "../../../../test/support/gate.ts";
import { selfSigned } from "../../../../test/support/self-signed.ts";
import { answerWith, WebhookReceiver } from "../../../../test/support/webhook-receiver.ts";
import { SUBSCRIPTION_LIMITS } from "../../../core/base/limits.ts";
import { callWebhook, type Resolve, type WebhookOptions } from "./webhook.ts";

const never = new AbortController().signal;
const resolveNothing: Resolve = async (name) => {
  throw new Error(`${name} was to be resolved`);
};
const local: WebhookOptions = { allowLocal: true, resolve: resolveNothing };

test("a webhook is a POST of the signed body, and done if the response says so", async () => {
  const receiver = await WebhookReceiver.start(answerWith({ done: true }));
  const call = { url: `${receiver.url}?a=b`, body: '{"n":1}', signature: "t=1,kid=k,ed25519=s" };
  expect(await callWebhook(call, local, never)).toBe("done");
  const { headers, text } = await receiver.next();
  expect(text).toBe('{"n":1}');
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "webhook-signature": "t=1,kid=k,ed25519=s",
    host: `127.0.0.1:${receiver.port}`,
  });
});

test("any other 2xx response counts as accepted, whatever its body", async () => {
  const receiver = await WebhookReceiver.start();
  const bodies = ["", "ok", "null", "[]", '{"done":1}', '{"done":"true"}', '{"done":true'];
  for (const body of bodies) {
    receiver.respond = (response) => response.writeHead(202).end(body);
    expect(await callWebhook(callTo(receiver.url), local, never), body).toBe("accepted");
  }
});

test("any other status is a failure, and no redirect is followed", async () => {
  const target = await WebhookReceiver.start(answerWith({ done: true }));
  const receiver = await WebhookReceiver.start();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.respond = (response) => response.writeHead(status, { Location: target.url }).end();
    expect(await callWebhook(callTo(receiver.url), local, never), String(status)).toBe("failed");
  }
  expect(target.count).toBe(0);
  for (const status of [400, 401, 404, 410, 429, 500, 503]) {
    receiver.respond = answerWith({ done: true }, status);
    expect(await callWebhook(callTo(receiver.url), local, never), String(status)).toBe("failed");
  }
});

test("a response is read up to its limit, and no further", async () => {
  const receiver = await WebhookReceiver.start();
  const max = SUBSCRIPTION_LIMITS.deliveryAnswerBytesMax;
  const padded = (length: number) => '{"done":true}'.padEnd(length);
  receiver.respond = (response) => response.end(padded(max));
  expect(await callWebhook(callTo(receiver.url), local, never)).toBe("done");
  receiver.respond = (response) => response.end(padded(max + 1));
  expect(await callWebhook(callTo(receiver.url), local, never)).toBe("accepted");
  const gate = new Gate();
  receiver.respond = (response) => {
    response.write(padded(max + 1)); // And never ends.
    response.on("close", () => gate.open());
  };
  expect(await callWebhook(callTo(receiver.url), local, never)).toBe("accepted");
  await gate.pass(); // The connection was released.
});

test("a receiver that takes too long, or is abandoned, is a failure", async () => {
  const silent = await WebhookReceiver.start(() => {});
  const hasty = { ...local, timeoutMs: 50 };
  expect(await callWebhook(callTo(silent.url), hasty, never)).toBe("failed");
  silent.respond = (response) => response.writeHead(200).flushHeaders();
  expect(await callWebhook(callTo(silent.url), hasty, never)).toBe("failed");
  const abort = new AbortController();
  const call = callWebhook(callTo(silent.url), local, abort.signal);
  abort.abort();
  expect(await call).toBe("failed");
});

test("a receiver that is unreachable, or does not speak HTTP, is a failure", async () => {
  const server = createServer((socket) => socket.resume().end("nonsense\r\n\r\n")).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await callWebhook(callTo(`http://127.0.0.1:${port}/`), local, never)).toBe("failed");
  server.close();
  await once(server, "close");
  expect(await callWebhook(callTo(`http://127.0.0.1:${port}/`), local, never)).toBe("failed");
});

test("a name with any private address is not connected to, whatever it resolved to before", async () => {
  let connections = 0;
  const listener = createServer(() => connections++).listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => void listener.close());
  const { port } = listener.address() as AddressInfo;
  const url = `https://hooks.example.com:${port}/`;
  const answers = [["127.0.0.1"], ["::1"], ["10.0.0.1"], ["169.254.169.254"], ["fe80::1"], ["::"]];
  answers.push(["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]);
  answers.push(["::ffff:127.0.0.1"], ["not an address"], []);
  for (const addresses of answers) {
    const resolve = resolveTo(...addresses);
    for (const allowLocal of [false, true]) {
      const outcome = await callWebhook(callTo(url), { allowLocal, resolve }, never);
      expect(outcome, addresses.join()).toBe("failed");
    }
  }
  expect(connections).toBe(0);
});

test("a name lookup that never finishes is abandoned in time", async () => {
  const options = { allowLocal: false, resolve: () => new Promise<never>(() => {}), timeoutMs: 50 };
  expect(await callWebhook(callTo("https://hooks.example.com/"), options, never)).toBe("failed");
  const failing = { ...options, resolve: resolveNothing };
  expect(await callWebhook(callTo("https://hooks.example.com/"), failing, never)).toBe("failed");
});

test("localhost that resolves to another machine is not connected to", async () => {
  const receiver = await WebhookReceiver.start(answerWith({ done: true }));
  const url = `http://localhost:${receiver.port}/`;
  const to = (address: string) => ({ allowLocal: true, resolve: resolveTo(address) });
  expect(await callWebhook(callTo(url), to("127.0.0.1"), never)).toBe("done");
  expect(await callWebhook(callTo(url), to("93.184.216.34"), never)).toBe("failed");
  expect(await callWebhook(callTo(url), to("10.0.0.1"), never)).toBe("failed");
});

test("a URL that is no longer allowed is not called", async () => {
  const receiver = await WebhookReceiver.start(answerWith({ done: true }));
  const strict = { ...local, allowLocal: false };
  expect(await callWebhook(callTo(receiver.url), strict, never)).toBe("failed");
  expect(receiver.count).toBe(0);
});

test("over https the receiver must have a certificate for its name", async () => {
  const tls = selfSigned("hooks.example.com");
  const receiver = await WebhookReceiver.start(answerWith({ done: true }), tls);
  // Method: this machine counts as public, since no test can have a public receiver.
  const world = { isPublic: (address: string) => address === "127.0.0.1", ca: tls.cert };
  const resolve = resolveTo("127.0.0.1");
  const url = (host: string) => callTo(`https://${host}:${receiver.port}/hook`);
  const trusting = { allowLocal: false, resolve, world };
  expect(await callWebhook(url("hooks.example.com"), trusting, never)).toBe("done");
  expect(await callWebhook(url("other.example.com"), trusting, never)).toBe("failed");
  const other = { ...world, ca: selfSigned("hooks.example.com").cert };
  const wary = { ...trusting, world: other };
  expect(await callWebhook(url("hooks.example.com"), wary, never)).toBe("failed");
  expect(receiver.count).toBe(1);
});

test("a proxy from the environment is not used: it would resolve names itself", async () => {
  const proxy = await WebhookReceiver.start(answerWith({ done: true }));
  const receiver = await WebhookReceiver.start(answerWith({}));
  for (const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"]) {
    const before = process.env[name];
    process.env[name] = `http://127.0.0.1:${proxy.port}`;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  expect(await callWebhook(callTo(receiver.url), local, never)).toBe("accepted");
  expect(proxy.count).toBe(0);
});

function callTo(url: string) {
  return { url, body: "{}", signature: "t=1,kid=k,ed25519=s" };
}

function resolveTo(...addresses: string[]): Resolve {
  return async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}
