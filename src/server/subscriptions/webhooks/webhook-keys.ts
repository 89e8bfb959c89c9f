/**
 * Webhook keys: sign webhook requests, and publish the public keys.
 *
 * The keys are stored like a user's (`trust/keys/keys.ts`), in `webhook-keys/` of the data
 * directory: private files, created on first use. Retired keys are kept and stay published, so that
 * their signatures can still be checked.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../../../core/base/host.ts";
import type { Signer } from "../../../trust/keys/keys.ts";
import { loadOwnKeys, loadSigner, type TrustPaths } from "../../../trust/keys/keys.ts";

export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
  readonly x: string;
}

export class WebhookKeys {
  readonly #signer: Signer;
  /** The key that signs, by the name receivers use. */
  readonly kid: string;
  /** All of them, the one that signs first. */
  readonly jwks: { readonly keys: readonly PublicJwk[] };

  static async open(host: Host, dataDirectory: string): Promise<WebhookKeys> {
    const keyDirectory = join(dataDirectory, "webhook-keys");
    // No foreign keys are trusted here: the file is for revoking one of ours.
    const places: TrustPaths = { keyDirectory, trustPath: join(keyDirectory, "trust.json") };
    const signer = await loadSigner(host, places);
    const keys = await loadOwnKeys(places);
    return new WebhookKeys(
      signer,
      keys.map(({ publicKey }) => publicJwk(publicKey)),
    );
  }

  private constructor(signer: Signer, keys: readonly PublicJwk[]) {
    this.#signer = signer;
    this.kid = publicJwk(signer.publicKey).kid;
    this.jwks = { keys };
  }

  /** The `Webhook-Signature` of a body sent at this time. */
  async signature(body: string, nowMs: number): Promise<string> {
    const seconds = Math.floor(nowMs / 1000);
    const signed = await this.#signer.sign(Buffer.from(`${seconds}.${body}`));
    return `t=${seconds},kid=${this.kid},ed25519=${Buffer.from(signed).toString("base64url")}`;
  }
}

function publicJwk(publicKey: Uint8Array): PublicJwk {
  const x = Buffer.from(publicKey).toString("base64url");
  // RFC 7638: the required members in order, without spaces.
  const thumbprint = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
  const kid = `ds_${thumbprint.digest("base64url")}`;
  return { kty: "OKP", crv: "Ed25519", kid, use: "sig", alg: "EdDSA", x };
}
