/** `verbatim serve --store postgres://… --sign`, and a signed session that is sent to it. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { ServedUser } from "../remote/served-user.ts";
import { lacksPostgres, newSchema } from "../support/postgres.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a signed session verifies on a server that keeps and signs streams in PostgreSQL", async () => {
    const database = await SignedDatabase.create("verbatim"); // The schema of the command.
    const user = new CliUser();
    const store = ["--store", database.url, "--durability", "memory", "--sign"];
    const served = await ServedUser.start(user, store);
    const folder = newSchema(); // Other tests have sessions there.
    const entry = { kind: "message", role: "user", parts: [{ type: "text", text: "hello" }] };
    const args = ["record", "--sign", "append", "--to", `${served.url}/${folder}`];
    const ran = await user.run(args, { input: `${JSON.stringify(entry)}\n`, env: served.env });
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);

    const own = async () =>
      (await database.states()).filter(({ path }) => path.startsWith(`/sessions/${folder}/`));
    await until(async () => {
      const kinds = await Promise.all((await own()).map(({ path }) => database.kinds(path)));
      return kinds.length > 0 && kinds.every((each) => each.at(-1) === "batch");
    }, "the server has signed its streams");
    const { sessions } = await served.client.sessions.list();
    const session = sessions.find(({ root }) => root.includes(folder)) ?? assert.fail("none");
    assert.equal((await served.client.sessions.verify(session.id)).verdict, "verified");
    const { stdout } = await user.run(["verify", database.url, "--json"]);
    const reports = jsonLines(stdout) as { session: string; verdict: string }[];
    const streams = reports.filter((each) => each.session.startsWith(`/sessions/${folder}/`));
    assert.equal(streams.length, (await own()).length);
    for (const { verdict, session } of streams) assert.equal(verdict, "verified", session);
  });
});
