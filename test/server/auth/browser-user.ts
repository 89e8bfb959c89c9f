/** A browser that opened the server's link: its cookie, and a client that sends it. */

import assert from "node:assert/strict";
import { VerbatimClient } from "../../../src/doors/client.ts";
import type { RunningServer } from "../../../src/server/serve.ts";

/** Opens the link as a browser does, and returns the cookie as it is sent. */
export async function cookieOf(link: string): Promise<string> {
  const response = await fetch(link, { redirect: "manual" });
  assert.equal(response.status, 303, await response.text());
  const [cookie = ""] = response.headers.getSetCookie();
  return cookie.split(";")[0] ?? "";
}

export function linkOf(server: RunningServer): string {
  return server.newLink() ?? assert.fail("its sessions are not private");
}

/** A client with the access of a browser. */
export async function browserClient(url: string, link: string): Promise<VerbatimClient> {
  const cookie = await cookieOf(link);
  return new VerbatimClient({
    url,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("Cookie", cookie);
      return fetch(input, { ...init, headers });
    },
  });
}
