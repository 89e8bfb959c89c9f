/** Shares of sessions with lines so long that part of them is in files next to the log. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import { LINE_BYTES_MAX } from "../../src/dialects/verbatim/dialect.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { bearer, makeToken } from "../server/auth/token-user.ts";
import { serveSessions } from "../server/sessions/served.ts";
import { answered, SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { KEY } from "./sharing.ts";

const LONG = "good night ".repeat(Math.ceil(LINE_BYTES_MAX / "good night ".length) + 1);
const KEPT = /\[\d+ bytes are kept in [0-9a-f]{32}\.0\.spill\]/;

test.each([false, true])(
  "nothing of a file next to the log is in a copy, and its place is named (signed: %s)",
  async (sign) => {
    const root = tempDirectory();
    const entries = [said("short"), said(LONG), answered(`${LONG} ${KEY}`)];
    const { path } = await new SigningUser().write({ dialect: "verbatim" }, entries, {
      root,
      sign,
    });
    assert.equal(readdirSync(dirname(path)).filter((name) => name.endsWith(".spill")).length, 2);
    const { server } = await serveSessions([root]);
    const { token } = await makeToken(server.directory);
    const client = new VerbatimClient({ url: server.url, token });
    const session = (await client.sessions.list()).sessions[0]?.id ?? assert.fail();
    const share = await client.share({ session });
    assert.equal(share.kind, sign ? "disclosed" : "masked");
    const shared = await fetch(`${server.url}/v1/share`, { headers: bearer(share.token) });
    const masked = Buffer.from(await client.sessions.masked(session)).toString();
    for (const copy of [await shared.text(), masked]) {
      assert.ok(!copy.includes("good night") && !copy.includes(KEY) && copy.includes("short"));
      assert.match(copy, KEPT);
      assert.match(copy, /"rule":"github"/, "what is found in a file is named");
    }
    // The line without a find says which file has its text; of the other one all is withheld.
    assert.equal(masked.split(KEPT).length, 2);
    assert.match(masked, /"withheld":\{"rule":"github"/);
  },
);
