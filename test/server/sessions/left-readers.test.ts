/** Readers that leave while a whole session is scanned or copied for them. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "vitest";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { said } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { type FileCall, WatchedFiles } from "../../support/watched-files.ts";
import { bearer, makeToken } from "../auth/token-user.ts";
import { newUser, serveSessions } from "./served.ts";

const MIB = 1024 * 1024;

/** Routes that read a whole log, and how often each does so for a session that is not signed. */
const CASES = [
  ["finds", 1],
  ["masked", 1],
  ["masked", 2],
  ["preview", 1],
  ["preview", 2],
  ["preview", 3],
  ["share", 3],
] as const;

test.each(CASES)(
  "a reader who leaves ends the work for %s, in its reading number %i",
  async (what, pass) => {
    const root = tempDirectory();
    const user = newUser();
    const write = (id: string) =>
      user.write({ dialect: "rye" }, [said("x")], { root, sign: false, id });
    const [long] = [await write("long-1"), await write("short-1")];
    appendFileSync(
      long.path,
      `${JSON.stringify({ text: "good night ".repeat(50) })}\n`.repeat(6_000),
    );
    const files = new WatchedFiles();
    const limits = { wholeReadersMax: 1 };
    const { server, url } = await serveSessions([root], { sessionHost: files.host, limits });
    const { token } = await makeToken(server.directory);
    const client = new VerbatimClient({ url: server.url, token });
    const { sessions } = await client.sessions.list();
    const idOf = (name: string) => sessions.find((each) => each.session === name)?.id ?? "";
    const session = idOf("long-1");

    const log = basename(long.path);
    const isRead = ({ call, name, at }: FileCall) => call === "read" && name === log && at === MIB;
    let [passes, release] = [0, () => {}];
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    files.before = (call) => (isRead(call) && ++passes === pass ? held : undefined);
    const reading = files.next(isRead, pass);
    const leaving = new AbortController();
    const body = JSON.stringify({ session, preview: what === "preview" });
    const isPost = what === "preview" || what === "share";
    const asked = fetch(isPost ? `${server.url}/v1/shares` : url(`/${session}/${what}`), {
      headers: bearer(token),
      signal: leaving.signal,
      ...(isPost && { method: "POST", body }),
    });
    await Promise.race([reading, asked]);
    files.calls.length = 0;
    leaving.abort();
    await assert.rejects(asked, { name: "AbortError" });
    const inFlight = async () =>
      await (await fetch(`${server.url}/metrics`, { headers: bearer(token) })).text();
    await until(
      async () => /^verbatim_requests_in_flight 1$/m.test(await inFlight()),
      "it has left",
    );
    release();
    await client.sessions.finds(idOf("short-1")); // Only one at a time: it comes after that work.
    assert.ok(
      files.made("read", log).every(({ at }) => at <= 2 * MIB),
      "the rest is not read",
    );
    assert.deepEqual(
      await (await fetch(`${server.url}/v1/shares`, { headers: bearer(token) })).json(),
      { shares: [] },
    );
  },
);
