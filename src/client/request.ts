/**
 * Request: one request to the server, and the error for its refusal.
 *
 * - An unsuccessful response is thrown: REQUEST_REFUSED with the status and the server's code. For
 *   an unreachable server the error of `fetch` is thrown.
 */

import { checkKind, checkOptions, type OptionKinds } from "../core/base/choice.ts";
import { VerbatimError } from "../core/base/errors.ts";

export interface ClientOptions {
  /** The server's address: `http://127.0.0.1:4437`. */
  readonly url: string;
  /** A token of the server; not needed for one that serves only its own machine. */
  readonly token?: string;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

const OPTIONS: OptionKinds<ClientOptions> = { url: "text", token: "text", fetch: "function" };

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Asking extends Omit<RequestInit, "headers"> {
  readonly query?: QueryValues | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Requester {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions) {
    checkOptions("VerbatimClient", options, OPTIONS);
    const { url, token, fetch = globalThis.fetch } = options;
    checkKind("url", url, "text");
    this.#url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#fetch = (...asked) => fetch(...asked); // Browsers refuse to call it as a method.
  }

  async send(path: string, { query = {}, headers = {}, ...init }: Asking = {}): Promise<Response> {
    const authorization =
      this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` };
    const response = await this.#fetch(`${this.#url}${path}${queryText(query)}`, {
      ...init,
      headers: { ...authorization, ...headers },
    });
    if (response.ok) return response;
    throw await refusal(path, response);
  }

  async json<T>(path: string, asking?: Asking): Promise<T> {
    return (await (await this.send(path, asking)).json()) as T;
  }
}

/** A whole number in a header; throws when the server did not send one. */
export function numberIn(response: Response, header: string): number {
  return Number(response.headers.get(header) ?? Number.NaN);
}

function queryText(values: QueryValues): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

async function refusal(path: string, response: Response): Promise<VerbatimError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const { code, message, field } =
    (body as { error?: Record<string, unknown> } | null)?.error ?? {};
  const reason = typeof message === "string" ? message : "it did not say why";
  return new VerbatimError(
    "REQUEST_REFUSED",
    `the server answered ${path} with ${status}: ${reason}`,
    {
      status,
      code: typeof code === "string" ? code : "",
      reason,
      ...(typeof field === "string" && { field }),
    },
  );
}
