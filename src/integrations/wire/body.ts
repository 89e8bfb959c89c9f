/**
 * Body: the bytes of a request or an answer as text, decompressed and without the caller's secrets.
 *
 * - A body that was cut is decompressed as far as it goes, if its encoding allows that.
 * - A secret is what a call carries to prove who it is: keys, cookies, Gemini's `?key=`. Bodies are
 *   searched for them before anything is parsed, since programs and servers repeat them.
 */

import { isUtf8 } from "node:buffer";
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from "node:zlib";

/** Longer bodies, also after decompression, are passed on and not read. */
export const BODY_BYTES_MAX = 256 * 1024 * 1024;

/** By lower-case name; of several with one name, all in one text. */
export type Headers = Readonly<Record<string, string>>;

export interface BodyTexts {
  readonly text: string;
  /** From which the bytes can be made again. */
  readonly raw: string;
  readonly charset: "utf8" | "latin1";
}

/** A body without compression and secrets. Throws if it cannot be decompressed. */
export async function bodyTexts(
  bytes: Uint8Array,
  headers: Headers,
  secrets: Secrets,
): Promise<BodyTexts> {
  let plain = bytes;
  const encodings = (headers["content-encoding"] ?? "").toLowerCase().split(",");
  for (const encoding of encodings.reverse()) plain = await decompressed(plain, encoding.trim());
  const buffer = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const charset = isUtf8(plain) ? "utf8" : "latin1";
  const text = secrets.remove(buffer.toString());
  return {
    text,
    raw: charset === "utf8" ? text : secrets.remove(buffer.toString(charset)),
    charset,
  };
}

async function decompressed(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  const maxOutputLength = BODY_BYTES_MAX;
  const flushed = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "":
    case "identity":
      return bytes;
    case "gzip":
    case "x-gzip":
      return gunzipSync(bytes, flushed);
    case "deflate":
      return ((bytes[0] ?? 0) & 0x0f) === 8
        ? inflateSync(bytes, flushed)
        : inflateRawSync(bytes, flushed);
    case "br":
      return brotliDecompressSync(bytes, {
        maxOutputLength,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    case "zstd":
      return (await import("../../dialects/files/zstd.ts")).decompress(bytes, BODY_BYTES_MAX);
    default:
      throw new Error(`the encoding ${encoding} is not known`);
  }
}

const SECRET_HEADERS: readonly string[] = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
  "set-cookie",
];
const SECRET_PARAMETERS: readonly string[] = ["key", "api_key", "api-key", "access_token"];
/** Shorter words are placeholders such as `none`, and would be cut out of every text. */
const SECRET_CHARS_MIN = 8;
const SECRETS_MAX = 1000;
const REPLACEMENT = "[removed by verbatim]";

/** The secrets of all calls so far: a later body may repeat an earlier key. */
export class Secrets {
  readonly #words = new Set<string>();

  /** Learns those of a call. */
  learn(headers: Headers, target = ""): void {
    const query = queryOf(target);
    const words = [
      ...SECRET_HEADERS.flatMap((name) => (headers[name] ?? "").split(/[\s;,=]+/)),
      ...SECRET_PARAMETERS.map((name) => query.get(name) ?? ""),
    ];
    for (const word of words) {
      if (word.length < SECRET_CHARS_MIN || this.#words.size >= SECRETS_MAX) continue;
      this.#words.add(word);
      this.#words.add(JSON.stringify(word).slice(1, -1)); // As it is within JSON.
    }
  }

  remove(text: string): string {
    let rest = text;
    for (const word of this.#words) {
      if (rest.includes(word)) rest = rest.replaceAll(word, REPLACEMENT);
    }
    return rest;
  }

  /** Path and query without keys, however short. */
  removeFromTarget(target: string): string {
    const query = queryOf(target);
    for (const name of SECRET_PARAMETERS) query.delete(name);
    const [path = ""] = target.split("?", 1);
    return this.remove(query.size === 0 ? path : `${path}?${query}`);
  }

  /** The headers that are no secret. */
  removeFromHeaders(headers: Headers): Headers {
    const rest = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.includes(name));
    return Object.fromEntries(rest.map(([name, value]) => [name, this.remove(value)]));
  }
}

function queryOf(target: string): URLSearchParams {
  return new URL(target, "http://localhost").searchParams;
}
