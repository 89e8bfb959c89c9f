/**
 * Remote stream: one stream of a server that follows one file: its bytes are the first bytes of
 * the file, in order, each once.
 *
 * - An append says where it begins, in three ways that the server checks before it writes:
 *   `Stream-Seq` is the offset, so of several appends at one offset one is accepted.
 *   `Producer-Epoch` is new after each look at the end, so a delayed request of before is refused.
 *   `Producer-Seq` counts on from there, so a server that was set back refuses the next append.
 * - An append without an answer is never repeated: `look` finds out what became of it.
 */

import { VerbatimError } from "../../../core/base/errors.ts";
import type { Remote } from "../remote-url.ts";

/** Bytes are stored as they are, without a look inside. */
const CONTENT_TYPE = "application/octet-stream";
/** One for all senders, so that a server keeps one state of it for each stream. */
const PRODUCER = "verbatim";
const TOKEN = /^(\d{16})_(\d{16})$/;
const OFFSET_DIGITS = 16;
/** Refusals which say that the stream does not end where the append begins. */
const MOVED: readonly string[] = [
  "SEQUENCE_CONFLICT",
  "STALE_EPOCH",
  "SEQUENCE_GAP",
  "BAD_EPOCH",
  "STREAM_NOT_FOUND",
];

export interface Requests {
  readonly remote: Remote;
  readonly fetch: typeof globalThis.fetch;
  readonly nowMs: () => number;
  /** How long a request may take; then the server counts as not reachable. */
  readonly timeoutMs: number;
  /** Ends all requests. */
  readonly signal: AbortSignal;
}

/** The end of a stream: the server's token, and its offset. */
export interface RemoteEnd {
  readonly token: string;
  readonly offset: number;
}

export class RemoteStream {
  readonly path: string;
  readonly #requests: Requests;
  #epoch = 0;
  #seq = 0;

  constructor(requests: Requests, path: string) {
    this.#requests = requests;
    this.path = path;
  }

  /** Where it ends; null: there is no such stream. */
  async look(): Promise<RemoteEnd | null> {
    this.#newEpoch(0);
    const response = await this.#send("HEAD", {});
    if (response.status === 404) return null;
    if (!response.ok) throw await this.#refusal(response);
    return this.#endOf(response);
  }

  /** Creates it; one that is there already is left as it is. */
  async create(): Promise<RemoteEnd> {
    const response = await this.#send("PUT", { headers: { "Content-Type": CONTENT_TYPE } });
    if (!response.ok) throw await this.#refusal(response);
    return this.#endOf(response);
  }

  /** Appends at an offset. Null: the stream ended elsewhere, and nothing was written. */
  async append(from: number, bytes: Uint8Array<ArrayBuffer>): Promise<RemoteEnd | null> {
    const headers = {
      "Content-Type": CONTENT_TYPE,
      "Stream-Seq": String(from).padStart(OFFSET_DIGITS, "0"),
      "Producer-Id": PRODUCER,
      "Producer-Epoch": String(this.#epoch),
      "Producer-Seq": String(this.#seq),
    };
    const response = await this.#send("POST", { headers, body: bytes });
    if (response.status === 204) return null; // Another sender has this epoch.
    if (!response.ok) {
      const refusal = await this.#refusal(response);
      if (!MOVED.includes(refusal.details.code)) throw refusal;
      this.#newEpoch(Number(response.headers.get("Producer-Epoch") ?? 0) + 1);
      return null;
    }
    this.#seq++;
    const end = this.#endOf(response);
    if (end.offset === from + bytes.length) return end;
    // Only if the server was set back between a look and the first append after it.
    throw conflict(this.#requests.remote, this.path, from, "it did not end where it should");
  }

  /** Its bytes from a place on, in pieces, with the end of each. */
  async *read(from: string): AsyncGenerator<RemoteEnd & { readonly bytes: Uint8Array }> {
    for (let offset = from; ; ) {
      const response = await this.#send("GET", {}, `?offset=${offset}`);
      if (!response.ok) throw await this.#refusal(response);
      const bytes = new Uint8Array(
        await response.arrayBuffer().catch((cause) => this.#fail(cause)),
      );
      const end = this.#endOf(response);
      if (bytes.length > 0) yield { ...end, bytes };
      if (response.headers.get("Stream-Up-To-Date") === "true" || bytes.length === 0) return;
      offset = end.token;
    }
  }

  #newEpoch(least: number): void {
    this.#epoch = Math.max(this.#requests.nowMs(), this.#epoch + 1, least);
    this.#seq = 0;
  }

  async #send(method: string, init: RequestInit, query = ""): Promise<Response> {
    const { remote, timeoutMs, signal } = this.#requests;
    const { url, token } = remote;
    const authorization = token === null ? {} : { Authorization: `Bearer ${token}` };
    const path = this.path.split("/").map(encodeURIComponent).join("/");
    try {
      return await this.#requests.fetch(`${url}/v1/stream${path}${query}`, {
        ...init,
        method,
        redirect: "error",
        headers: { ...authorization, ...init.headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
    } catch (cause) {
      return this.#fail(cause);
    }
  }

  #fail(cause: unknown): never {
    const { url } = this.#requests.remote;
    const reason = reasonOf(cause);
    throw new VerbatimError(
      "DELIVERY_FAILED",
      `${url} cannot be reached (${reason}); check the address and that the server runs`,
      { url, status: null, code: "" },
      { cause },
    );
  }

  async #refusal(response: Response): Promise<VerbatimError<"DELIVERY_FAILED">> {
    const { status } = response;
    const body: unknown = await response.json().catch(() => null);
    const { code = "", message } =
      (body as { error?: Record<string, unknown> } | null)?.error ?? {};
    const said = typeof message === "string" ? `: ${message}` : "";
    const { url, folder } = this.#requests.remote;
    const help =
      status === 401 || status === 403
        ? `; VERBATIM_TOKEN must be a token with read and append for sessions/${folder}/**`
        : said;
    return new VerbatimError("DELIVERY_FAILED", `${url} refused a request (${status})${help}`, {
      url,
      status,
      code: String(code),
    });
  }

  #endOf({ headers }: Response): RemoteEnd {
    const token = headers.get("Stream-Next-Offset") ?? "";
    const [, , offset] = TOKEN.exec(token) ?? [];
    if (offset !== undefined) return { token, offset: Number(offset) };
    const { url } = this.#requests.remote;
    throw new VerbatimError(
      "DELIVERY_FAILED",
      `${url} does not answer like a Verbatim server; check the address`,
      { url, status: null, code: "" },
    );
  }
}

/** The server's copy and the file differ, so nothing is sent. */
export function conflict(
  { url }: Remote,
  stream: string,
  offset: number,
  reason: string,
): VerbatimError<"DELIVERY_CONFLICT"> {
  return new VerbatimError(
    "DELIVERY_CONFLICT",
    `${stream} on ${url} is not continued at byte ${offset}: ${reason}`,
    { url, stream, offset },
  );
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "TimeoutError") return "it did not answer in time";
  const inner = (cause as { cause?: { code?: unknown; message?: unknown } }).cause;
  return String(inner?.code ?? inner?.message ?? cause.message);
}
