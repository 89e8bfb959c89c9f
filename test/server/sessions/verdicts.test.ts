/** Verdicts over HTTP: the report and its sentences are those of `verbatim verify`. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { SESSIONS_ROOT } from "../../../src/server/router/paths.ts";
import type { VerifyReport } from "../../../src/trust/judge/report.ts";
import { CliUser } from "../../cli/cli.ts";
import { SigningUser, said, turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { check } from "../described.ts";
import { type SessionPage, serveSessions } from "./served.ts";

const RYE = { dialect: "rye" } as const;

/** One session of each verdict in one root, and other contents of a report. */
async function everyVerdict() {
  const root = tempDirectory();
  const stranger = new SigningUser();
  await stranger.writeTurns(RYE, 1, { root, id: "untrusted-1" });
  const user = new SigningUser();
  const write = (id: string, options = {}) => user.writeTurns(RYE, 3, { root, id, ...options });
  const go = async (id: string, sign: boolean) => {
    const store = await user.store({ ...RYE, root, sign });
    await store.session(id).append(said("more"));
    await store.close();
  };
  await write("verified-1");
  await write("unsigned-1", { sign: false });
  const tampered = await write("tampered-1");
  writeFileSync(tampered.path, readFileSync(tampered.path, "utf8").replace("turn 2", "TURN 2"));
  const cut = await write("rollback-1");
  const lines = readFileSync(cut.path, "utf8").split("\n");
  const third = lines.findIndex((line) => line.includes("turn 3"));
  writeFileSync(cut.path, `${lines.slice(0, third - 1).join("\n")}\n`);
  rmSync((await write("gone-1")).path);
  await write("incomplete-1");
  await go("incomplete-1", false);
  await write("found-1");
  await go("found-1", false);
  await go("found-1", true);
  await write("rotated-1");
  await user.rotate();
  await go("rotated-1", true);
  return { root, user };
}

const VERDICTS = {
  "untrusted-1": "untrusted",
  "verified-1": "verified",
  "unsigned-1": "unsigned",
  "tampered-1": "tampered",
  "rollback-1": "rollback",
  "gone-1": "rollback",
  "incomplete-1": "incomplete",
  "found-1": "incomplete",
  "rotated-1": "verified",
};

test("a verdict over HTTP matches the OpenAPI document, and what the command line prints", async () => {
  const { root, user } = await everyVerdict();
  const { url, json } = await serveSessions([root]);
  const cli = new CliUser();
  const env = {
    XDG_CONFIG_HOME: join(user.home, "config"),
    XDG_STATE_HOME: join(user.home, "state"),
  };
  const run = async (...args: string[]) => {
    return (await cli.run(["verify", "--root", root, ...args], { env })).stdout;
  };
  const printed = new Map(
    (await run("--json"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as VerifyReport)
      .map((report) => [report.session, report]),
  );
  const text = await run();
  const verdicts: Record<string, string> = {};
  for (const { id, session } of (await json<SessionPage>("")).sessions) {
    const response = await fetch(url(`/${id}/verify`));
    const report = (await response.clone().json()) as VerifyReport;
    await check(`${SESSIONS_ROOT}/{id}/verify`, response);
    assert.deepEqual(report, printed.get(session), session);
    verdicts[session] = report.verdict;
    const why = report.findings.find(({ verdict }) => verdict === report.verdict);
    if (why) {
      const line = text.split("\n").find((each) => each.endsWith(why.message));
      assert.match(line ?? "", new RegExp(`^ {2}\\w+ ${why.code}: `));
    } else assert.equal(report.verdict, "verified");
  }
  assert.deepEqual(verdicts, VERDICTS);
});

test("a report that lacks a field of a verdict, or has one more, does not match the document", async () => {
  const user = new SigningUser();
  const { target } = await user.write(RYE, [...turnOf("one")]);
  const { url, json } = await serveSessions([target.root]);
  const [session] = (await json<SessionPage>("")).sessions;
  const report = (await (await fetch(url(`/${session?.id}/verify`))).json()) as VerifyReport;
  const { signed_through: _, ...without } = report;
  for (const other of [without, { ...report, more: 1 }]) {
    await assert.rejects(check(`${SESSIONS_ROOT}/{id}/verify`, Response.json(other)));
  }
});
