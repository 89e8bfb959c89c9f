/**
 * Server: the server that this page came from, through the public client.
 *
 * - When the server requires a token, the request is repeated with the one that the user enters. It
 *   is kept in this tab's session storage, and sent only to the server.
 */

import { computed, signal } from "@preact/signals";
import { VerbatimClient } from "../../src/client/client.ts";
import { VerbatimError } from "../../src/core/base/errors.ts";

const TOKEN_KEY = "verbatim.token";
const UNAUTHORIZED = 401;

const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? "");

/** Whether the server requires a token, or another one. */
export const isTokenWanted = signal(false);
/** The server does not accept the token that was entered. */
export const isTokenRefused = computed(() => isTokenWanted.value && token.value !== "");
/** False after a request without an answer. */
export const isReachable = signal(true);

/** A new one for each token, so that pages reload. */
export const client = computed(() => {
  const url = new URL(".", location.href.split("#")[0] ?? "").href;
  return new VerbatimClient({ url, fetch: watchedFetch, ...tokenOf(token.value) });
});

export function useToken(given: string): void {
  sessionStorage.setItem(TOKEN_KEY, given);
  isTokenWanted.value = false;
  token.value = given;
}

/** Asks the server for anything: an answer shows that it is back. */
export async function tryAgain(): Promise<void> {
  await client.value.sessions.list({ limit: 1 }).catch(() => {});
}

function tokenOf(text: string): { token?: string } {
  return text === "" ? {} : { token: text };
}

async function watchedFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  try {
    const response = await fetch(...asked);
    isReachable.value = true;
    if (response.status === UNAUTHORIZED) isTokenWanted.value = true;
    return response;
  } catch (cause) {
    if (!isAbort(cause)) isReachable.value = false;
    throw cause;
  }
}

export function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}

/** The status of a refusal; 0 without an answer. */
export function statusOf(cause: unknown): number {
  if (!(cause instanceof VerbatimError)) return 0;
  const { details } = cause;
  return "status" in details && typeof details.status === "number" ? details.status : 0;
}

/** What went wrong, for the user. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof VerbatimError) return cause.message;
  if (cause instanceof TypeError) return "The server does not answer.";
  return cause instanceof Error ? cause.message : "Something went wrong.";
}
