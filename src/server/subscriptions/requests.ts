/**
 * Requests about subscriptions: decodes untrusted JSON.
 *
 * A field of the wrong shape is refused, never ignored: a subscription that means less than was
 * sent would lose wakes silently.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { checkStreamPath } from "../../streams/files/stream-path.ts";
import type { Ack, AckRequest, Fence } from "../../streams/subscriptions/acks.ts";
import { globFault } from "../../streams/subscriptions/glob.ts";
import {
  LEASE_TTL_MS,
  type SubscriptionConfig,
  subscriptionRefusal,
} from "../../streams/subscriptions/subscription.ts";
import { judgeWebhookUrl } from "./webhooks/webhook-url.ts";

type Fields = Readonly<Record<string, unknown>>;

const { descriptionCharsMax, streamsPerRequestMax, workerCharsMax } = SUBSCRIPTION_LIMITS;

/** Reads a request's fields; every refusal names the subscription and the field. */
export class SubscriptionRequest {
  readonly #id: string;
  readonly #fields: Fields;

  constructor(id: string, body: Uint8Array) {
    this.#id = id;
    this.#fields = this.#parse(body);
  }

  config(allowLocalWebhooks: boolean): SubscriptionConfig {
    const { type } = this.#fields;
    if (type !== "webhook" && type !== "pull-wake") {
      throw this.#invalid('type must be "webhook" or "pull-wake"');
    }
    const pattern = this.#pattern();
    const streams = this.#streams(true);
    if (pattern === null && streams.length === 0) {
      throw this.#invalid("pattern or streams must name what to follow");
    }
    const isWebhook = type === "webhook";
    const wakeStream = isWebhook ? null : this.#wakeStream();
    if (wakeStream !== null && streams.includes(wakeStream)) {
      throw this.#invalid("streams must not hold wake_stream: each wake would wake again");
    }
    return {
      type,
      pattern,
      streams,
      webhookUrl: isWebhook ? this.#webhookUrl(allowLocalWebhooks) : null,
      wakeStream,
      leaseTtlMs: this.#leaseTtlMs(),
      description: this.#description(),
    };
  }

  /** Streams to add, as paths of the store. */
  addedStreams(): readonly string[] {
    return this.#streams(false);
  }

  worker(): string {
    const { worker } = this.#fields;
    if (typeof worker === "string" && worker !== "" && worker.length <= workerCharsMax) {
      return worker;
    }
    throw this.#invalid(`worker must be a name of 1 to ${workerCharsMax} characters`);
  }

  fence(token: string): Fence {
    const { wake_id: wakeId, generation } = this.#fields;
    if (typeof wakeId !== "string") throw this.#invalid("wake_id must be the wake's");
    if (typeof generation !== "number") throw this.#invalid("generation must be the wake's");
    return { token, wakeId, generation };
  }

  ack(token: string): AckRequest {
    const { acks = [], done = false } = this.#fields;
    if (!Array.isArray(acks) || acks.length > streamsPerRequestMax) {
      throw this.#invalid(`acks must be a list of at most ${streamsPerRequestMax}`);
    }
    if (typeof done !== "boolean") throw this.#invalid("done must be true or false");
    return { ...this.fence(token), acks: acks.map((ack) => this.#ack(ack)), isDone: done };
  }

  #ack(value: unknown): Ack {
    const { stream, path, offset } = (value ?? {}) as Fields;
    const named = stream ?? path; // Some workers return the `path` that they received.
    if (typeof named === "string" && typeof offset === "string") return { stream: named, offset };
    throw this.#invalid("each ack must hold a stream and an offset");
  }

  #pattern(): string | null {
    const { pattern = null } = this.#fields;
    if (pattern === null) return null;
    if (typeof pattern !== "string") throw this.#invalid("pattern must be a string");
    const given = pattern.replace(/^\//, "");
    const fault = globFault(given);
    if (fault !== null) throw this.#invalid(`pattern is refused: ${fault}`);
    return given;
  }

  #streams(isOptional: boolean): readonly string[] {
    const { streams = isOptional ? [] : null } = this.#fields;
    const isList = Array.isArray(streams) && streams.length <= streamsPerRequestMax;
    if (!isList && !(isOptional && streams === null)) {
      throw this.#invalid(`streams must be a list of at most ${streamsPerRequestMax} paths`);
    }
    const paths = (isList ? streams : []).map((each) => this.#path(each, "streams"));
    return [...new Set(paths)].sort();
  }

  #wakeStream(): string {
    const { wake_stream: wakeStream } = this.#fields;
    if (wakeStream === undefined || wakeStream === null) {
      throw this.#invalid("a pull-wake subscription needs wake_stream, a stream of yours");
    }
    return this.#path(wakeStream, "wake_stream");
  }

  #path(value: unknown, field: string): string {
    if (typeof value !== "string") throw this.#invalid(`${field} must hold paths of streams`);
    const path = value.startsWith("/") ? value : `/${value}`;
    try {
      checkStreamPath(path);
    } catch (cause) {
      if (!(cause instanceof VerbatimError)) throw cause;
      throw this.#invalid(`${field}: ${cause.message}`);
    }
    return path;
  }

  #webhookUrl(allowLocal: boolean): string {
    const { webhook } = this.#fields;
    const { url } = (webhook ?? {}) as Fields;
    if (typeof url !== "string" || url === "") {
      throw this.#invalid("a webhook subscription needs webhook.url");
    }
    const { fault } = judgeWebhookUrl(url, allowLocal);
    if (fault === null) return url;
    throw subscriptionRefusal(this.#id, "WEBHOOK_URL_REJECTED", `webhook.url is refused: ${fault}`);
  }

  #leaseTtlMs(): number {
    const { min, usual, max } = LEASE_TTL_MS;
    const { lease_ttl_ms: given } = this.#fields;
    const ms = given ?? usual;
    if (typeof ms === "number" && Number.isInteger(ms) && ms >= min && ms <= max) return ms;
    throw this.#invalid(`lease_ttl_ms must be a whole number from ${min} to ${max}`);
  }

  #description(): string | null {
    const { description = null } = this.#fields;
    if (description === null) return null;
    const isFine = typeof description === "string" && description.length <= descriptionCharsMax;
    if (isFine) return description;
    throw this.#invalid(`description must be a text of at most ${descriptionCharsMax} characters`);
  }

  #parse(body: Uint8Array): Fields {
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch {
      throw this.#invalid("the body must be JSON");
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Fields;
    }
    throw this.#invalid("the body must be a JSON object");
  }

  #invalid(reason: string): VerbatimError {
    return subscriptionRefusal(this.#id, "INVALID_REQUEST", `the request is refused: ${reason}`);
  }
}
