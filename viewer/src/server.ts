/**
 * Server: the server that this page came from, through the public client.
 *
 * - When the server requires a token, the request is repeated with the one that the user enters. It
 *   is kept in this tab's session storage, and sent only to the server.
 */

import { computed, signal } from "@preact/signals";
import { VerbatimClient } from "../../src/client/client.ts";
import { isAbort } from "./fault-text.ts";

const TOKEN_KEY = "verbatim.token";
const UNAUTHORIZED = 401;

const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? "");

/** Whether the server requires a token, or another one. */
export const isTokenWanted = signal(false);
/** The server does not accept the token that was entered. */
export const isTokenRefused = computed(() => isTokenWanted.value && token.value !== "");
const wasAccepted = signal(false);
/** The server accepted this page, and no longer does: what is shown stays. */
export const isAccessLost = computed(() => isTokenWanted.value && wasAccepted.value);
/** False after a request without an answer. */
export const isReachable = signal(true);

/** Another one makes pages load again. */
export const client = signal(newClient());

function newClient(): VerbatimClient {
  const url = new URL(".", location.href.split("#")[0] ?? "").href;
  return new VerbatimClient({ url, fetch: watchedFetch });
}

export function useToken(given: string): void {
  sessionStorage.setItem(TOKEN_KEY, given);
  isTokenWanted.value = false;
  token.value = given;
  if (wasAccepted.value) void tryAgain();
  else client.value = newClient();
}

/** Asks the server for anything: an answer shows that it is back. */
export async function tryAgain(): Promise<void> {
  await client.value.sessions.list({ limit: 1 }).catch(() => {});
}

async function watchedFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token.value !== "") headers.set("Authorization", `Bearer ${token.value}`);
  try {
    const response = await fetch(input, { ...init, headers });
    isReachable.value = true;
    if (response.status === UNAUTHORIZED) isTokenWanted.value = true;
    else if (response.ok) {
      isTokenWanted.value = false;
      wasAccepted.value = true;
    }
    return response;
  } catch (cause) {
    if (!isAbort(cause)) isReachable.value = false;
    throw cause;
  }
}
