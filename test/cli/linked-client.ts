/** A client with the access that the link of a running `verbatim serve` gives. */

import assert from "node:assert/strict";
import type { VerbatimClient } from "../../src/doors/client.ts";
import { browserClient } from "../server/auth/browser-user.ts";
import type { Running } from "./cli.ts";

/** The client of a browser that opened the printed link. */
export async function linkedClient(running: Running): Promise<VerbatimClient> {
  for (;;) {
    const line = (await running.line()) ?? assert.fail(running.stderr);
    const [link, url] = /(http:\/\/\S+)\/open\?key=\S+/.exec(line) ?? [];
    if (link !== undefined) return browserClient(url ?? "", link);
  }
}
