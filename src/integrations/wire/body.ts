/**
 * Body: the bytes of a request or an answer as text, decompressed and without the caller's secrets.
 *
 * - A body that was cut is decompressed as far as it goes, if its encoding allows that.
 * - A secret is what a call carries to prove who it is: keys, cookies, Gemini's `?key=`. Bodies are
 *   searched for them before anything is parsed, since programs and servers repeat them.
 */

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

/** Throws if it cannot be decompressed. */
export async function bodyText(bytes: Uint8Array, headers: Headers): Promise<string> {
  let plain = bytes;
  const encodings = (headers["content-encoding"] ?? "").toLowerCase().split(",");
  for (const encoding of encodings.reverse()) plain = await decompressed(plain, encoding.trim());
  return new TextDecoder().decode(plain);
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
  readonly #known = new Set<string>();

  /** Learns those of a call. */
  learn(headers: Headers, path = ""): void {
    const query = new URL(path, "http://localhost").searchParams;
    const said = [
      ...SECRET_HEADERS.flatMap((name) => (headers[name] ?? "").split(/[\s;,=]+/)),
      ...SECRET_PARAMETERS.map((name) => query.get(name) ?? ""),
    ];
    for (const word of said) {
      if (word.length < SECRET_CHARS_MIN || this.#known.size >= SECRETS_MAX) continue;
      this.#known.add(word);
      this.#known.add(JSON.stringify(word).slice(1, -1)); // As it is within JSON.
    }
  }

  remove(text: string): string {
    let rest = text;
    for (const secret of this.#known) {
      if (rest.includes(secret)) rest = rest.replaceAll(secret, REPLACEMENT);
    }
    return rest;
  }
}
