/**
 * Webhooks: sends one request to a receiver and interprets its answer; the keys that sign it.
 *
 * The connection goes to an address that was checked: names are resolved here, once, and if any
 * address is not allowed, none is used. No proxy, no redirect, no reuse of a connection to another
 * name. An answer is limited in time and size. Only 2xx is success; the body is read only for
 * `done` and never shown.
 */

import { createHash } from "node:crypto";
import type { LookupAddress, LookupOptions } from "node:dns";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { join } from "node:path";
import type { Host } from "../../../core/base/host.ts";
import { SUBSCRIPTION_LIMITS } from "../../../core/base/limits.ts";
import type { DeliveryOutcome } from "../../../streams/subscriptions/wakes.ts";
import { loadOwnKeys, loadSigner, type Signer, type TrustPaths } from "../../../trust/keys/keys.ts";
import { hostOf, isLocalAddress, isPublicAddress, judgeWebhookUrl } from "./webhook-url.ts";

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface WebhookCall {
  readonly url: string;
  readonly body: string;
  readonly signature: string;
}

export interface WebhookOptions {
  readonly allowLocal: boolean;
  readonly resolve: Resolve;
  readonly timeoutMs?: number;
  /** Other rules for public addresses and certificates, for tests. */
  readonly world?: { readonly isPublic: (address: string) => boolean; readonly ca: string };
}

/** Makes the request; never throws for a fault of the receiver or the network. */
export async function callWebhook(
  call: WebhookCall,
  options: WebhookOptions,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const judged = judgeWebhookUrl(call.url, options.allowLocal);
  if (judged.url === null) return "failed"; // It may have been allowed when it was created.
  const { url, isLocal } = judged;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? SUBSCRIPTION_LIMITS.deliveryMsMax);
  const { isPublic, ca } = options.world ?? { isPublic: isPublicAddress, ca: undefined };
  const settings: RequestOptions = {
    method: "POST",
    hostname: hostOf(url),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: {
      Host: url.host,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(call.body),
      "Webhook-Signature": call.signature,
      "User-Agent": "verbatim-log",
      Connection: "close",
    },
    agent: false,
    lookup: judgedLookup(options.resolve, isLocal ? isLocalAddress : isPublic),
    signal: AbortSignal.any([signal, timeout]),
  };
  if (ca !== undefined) settings.ca = ca;
  try {
    return await outcomeOf(isLocal ? httpRequest(settings) : httpsRequest(settings), call.body);
  } catch {
    return "failed"; // It is tried again; the subscription's status shows the failure.
  }
}

function outcomeOf(request: ClientRequest, body: string): Promise<DeliveryOutcome> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response: IncomingMessage) => {
      response.on("error", reject);
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) {
        response.destroy();
        resolve("failed");
      } else {
        readAnswer(response).then((text) => resolve(isDone(text) ? "done" : "accepted"), reject);
      }
    });
    request.end(body);
  });
}

/** The body; empty when it is longer than any answer with `done`. */
async function readAnswer(response: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > SUBSCRIPTION_LIMITS.deliveryAnswerBytesMax) return ""; // This also destroys it.
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function isDone(text: string): boolean {
  try {
    const answer = JSON.parse(text) as { done?: unknown } | null;
    return answer?.done === true;
  } catch {
    return false; // Many receivers answer with a word or nothing.
  }
}

/** Resolves a name for `connect`; refuses it when any of its addresses is not allowed. */
function judgedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (name, options: LookupOptions, answer) => {
    resolve(name).then(
      (addresses) => {
        const first = addresses[0];
        const isFine = addresses.every(({ address }) => isIP(address) && isAllowed(address));
        if (first === undefined || !isFine) {
          answer(new Error("the name has an address that webhooks may not be sent to"), "", 0);
        } else if (options.all === true) {
          answer(null, [...addresses]);
        } else {
          answer(null, first.address, first.family);
        }
      },
      (cause: Error) => answer(cause, "", 0),
    );
  };
}

export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
  readonly x: string;
}

/**
 * Webhook keys: sign webhook requests, and publish the public keys.
 *
 * They are stored like a user's (`trust/keys/keys.ts`), in `webhook-keys/` of the data
 * directory: private files, created on first use. Retired keys are kept and stay published, so that
 * their signatures can still be checked.
 */
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
