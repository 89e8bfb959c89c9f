import { createHash, createPublicKey, verify } from "node:crypto";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusal } from "../../../../test/support/refusal.ts";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { nodeHost } from "../../../core/base/node-host.ts";
import { rotateKey } from "../../../trust/keys/keys.ts";
import { type PublicJwk, WebhookKeys } from "./webhook.ts";

const nowMs = Date.UTC(2026, 10, 15);

test("a signature verifies with the published key that it names, for these bytes and this time", async () => {
  const keys = await WebhookKeys.open(nodeHost, tempDirectory());
  const signature = await keys.signature('{"é":1}', nowMs);
  expect(signature).toMatch(/^t=\d+,kid=ds_[\w-]{43},ed25519=[\w-]{86}$/);
  expect(holds(keys, '{"é":1}', signature)).toBe(true);
  expect(holds(keys, '{"é":2}', signature)).toBe(false);
  expect(holds(keys, '{"é":1}', signature.replace(/t=\d/, "t=9"))).toBe(false);
});

test("a key is named by its JWK thumbprint", async () => {
  const keys = await WebhookKeys.open(nodeHost, tempDirectory());
  const [jwk] = keys.jwks.keys;
  const required = JSON.stringify({ crv: jwk?.crv, kty: jwk?.kty, x: jwk?.x });
  const thumbprint = createHash("sha256").update(required).digest("base64url");
  expect(jwk).toMatchObject({ kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" });
  expect(jwk?.kid).toBe(`ds_${thumbprint}`);
  expect(keys.kid).toBe(jwk?.kid);
});

test("the key is created once, is the same after a restart, and only its owner can read it", async () => {
  const directory = tempDirectory();
  const first = await WebhookKeys.open(nodeHost, directory);
  const again = await WebhookKeys.open(nodeHost, directory);
  expect(again.jwks).toEqual(first.jwks);
  const path = join(directory, "webhook-keys", "private_key.pem");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, "webhook-keys")).mode & 0o777).toBe(0o700);
  expect(readFileSync(path, "utf8")).toContain("PRIVATE KEY");
  chmodSync(path, 0o644);
  await refusal(WebhookKeys.open(nodeHost, directory), "KEY_REFUSED");
});

test("a key that was replaced stays published", async () => {
  const directory = tempDirectory();
  const before = await WebhookKeys.open(nodeHost, directory);
  const signature = await before.signature("{}", nowMs);
  const keyDirectory = join(directory, "webhook-keys");
  await rotateKey(nodeHost, { keyDirectory, trustPath: join(keyDirectory, "trust.json") });
  const after = await WebhookKeys.open(nodeHost, directory);
  expect(after.kid).not.toBe(before.kid);
  expect(after.jwks.keys.map(({ kid }) => kid)).toEqual([after.kid, before.kid]);
  expect(holds(after, "{}", signature)).toBe(true);
});

/** As a receiver would check it, using only what is published. */
function holds({ jwks }: WebhookKeys, body: string, signature: string): boolean {
  const [, t = "", kid = "", ed25519 = ""] =
    /^t=(\d+),kid=([^,]+),ed25519=([\w-]+)$/.exec(signature) ?? [];
  const jwk = jwks.keys.find((key: PublicJwk) => key.kid === kid);
  if (jwk === undefined) return false;
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
  return verify(null, Buffer.from(`${t}.${body}`), key, Buffer.from(ed25519, "base64url"));
}
