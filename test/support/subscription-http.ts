/** Requests about subscriptions, and checks of webhook signatures, as a client makes them. */

import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import type { PublicJwk } from "../../src/server/subscriptions/webhooks/webhook.ts";
import { JSON_TYPE } from "../server/test-server.ts";
import type { Received } from "./webhook-receiver.ts";

export const HOOK = {
  type: "webhook",
  pattern: "events/*",
  webhook: { url: "https://hooks.example.com/" },
};
export const PULL = { type: "pull-wake", pattern: "events/*", wake_stream: "wake/pool" };

/** A server, by the URLs below its stream root. */
export interface At {
  at(path: string): string;
}

export function send(
  server: At,
  method: string,
  route: string,
  body?: unknown,
  token?: string,
): Promise<Response> {
  return request(method, server.at(`/__ds/subscriptions/${route}`), body, token);
}

export function post(url: string, body: unknown, token?: string): Promise<Response> {
  return request("POST", url, body, token);
}

function request(method: string, url: string, body?: unknown, token?: string): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": JSON_TYPE };
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(url, { method, headers, ...sent });
}

export async function errorOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

/** As a receiver verifies it: the exact bytes, with the key that the header names. */
export async function isSigned(server: At, { headers, text }: Received): Promise<boolean> {
  const { keys } = (await (await fetch(server.at("/__ds/jwks.json"))).json()) as {
    keys: PublicJwk[];
  };
  const signature = /^t=(\d+),kid=([^,]+),ed25519=([\w-]+)$/.exec(
    String(headers["webhook-signature"]),
  );
  const [, t = "", kid, ed25519 = ""] = signature ?? [];
  assert.ok(Math.abs(Number(t) * 1000 - Date.now()) < 60_000);
  const jwk = keys.find((key) => key.kid === kid) ?? assert.fail("an unpublished key");
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
  return verify(null, Buffer.from(`${t}.${text}`), key, Buffer.from(ed25519, "base64url"));
}
