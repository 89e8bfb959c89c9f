/** `verbatim verify --against`: sessions pinned on another machine, under another path. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ExpectedPins } from "../../src/evidence/verify/expected-pins.ts";
import { pinOf } from "../support/pins.ts";
import { CliUser, jsonLines } from "./cli.ts";

const QUESTION = '{"kind":"message","role":"user","parts":[{"type":"text","text":"Deploy?"}]}\n';

/** A machine that signs two sessions, and another that has a copy of them at another path. */
class Pair {
  readonly signer = new CliUser();
  readonly ci = new CliUser();

  static async create(): Promise<Pair> {
    const pair = new Pair();
    for (const id of ["deploy", "second"]) {
      await pair.ok(pair.signer, ["record", "--session", id, "--sign"], QUESTION);
    }
    await pair.ok(pair.signer, ["keys", "export", "public.pem"]);
    await pair.ok(pair.signer, ["keys", "head", "export", "heads.jsonl"]);
    cpSync(pair.signer.cwd, pair.ci.cwd, { recursive: true });
    await pair.ok(pair.ci, ["keys", "trust", "add", "public.pem", "--owner", "ada", "--yes"]);
    return pair;
  }

  async ok(user: CliUser, args: readonly string[], input = ""): Promise<string> {
    const { code, stdout, stderr } = await user.run(args, { input });
    assert.equal(code, 0, stderr);
    return stdout;
  }

  remove(id: string): void {
    const sessions = join(this.ci.cwd, ".verbatim/sessions");
    const names = readdirSync(sessions).filter((name) => name.startsWith(id));
    for (const name of names) rmSync(join(sessions, name), { recursive: true });
  }

  /** Verdicts by session, and the exit code. */
  async verdicts(...args: string[]): Promise<Record<string, unknown>> {
    const all = ["verify", "--require-pin", "--against", "heads.jsonl", "--json", ...args];
    const { code, stdout } = await this.ci.run(all);
    const reports = jsonLines(stdout).map(({ session, verdict }) => [session, verdict]);
    return { ...Object.fromEntries(reports), code };
  }
}

test("a session that is pinned in the file and missing here is a rollback, whatever the path", async () => {
  const pair = await Pair.create();
  const sound = { deploy: "verified", second: "verified", code: 0 };
  assert.deepEqual(await pair.verdicts(), sound);
  pair.remove("second");
  const missing = { deploy: "verified", second: "rollback", code: 6 };
  for (const args of [[], ["--root", "."], ["."], [".verbatim"], ["--dialect", "verbatim"]]) {
    assert.deepEqual(await pair.verdicts(...args), missing, args.join(" "));
  }
  assert.deepEqual(await pair.verdicts("deploy"), { deploy: "verified", code: 0 }, "one by name");
  assert.deepEqual(await pair.verdicts("--dialect", "rye"), { code: 2 }, "another layout");
  const text = await pair.ci.run(["verify", "--against", "heads.jsonl"]);
  expect(text.stdout).toMatch(
    /^second: rollback\n {2}error BEHIND: heads.jsonl pins checkpoint 1 .*head export --root DIR/m,
  );
  rmSync(join(pair.ci.cwd, ".verbatim"), { recursive: true });
  assert.deepEqual(await pair.verdicts(), { deploy: "rollback", second: "rollback", code: 6 });
});

test("a session whose log was replaced, under another path, is a rollback", async () => {
  const pair = await Pair.create();
  pair.remove("second");
  await pair.ok(pair.ci, ["record", "--session", "second", "--sign"], QUESTION);
  const { stdout, code } = await pair.ci.run(["verify", "--against", "heads.jsonl"]);
  expect(stdout).toMatch(/^second: verified/m);
  expect(stdout).toMatch(/^second: rollback/m);
  assert.equal(code, 6);
});

test("head export --root writes only the heads of that project", async () => {
  const pair = await Pair.create();
  const { signer } = pair;
  mkdirSync(join(signer.cwd, "other"));
  await pair.ok(signer, ["record", "--session", "third", "--sign", "--root", "other"], QUESTION);
  const ids = async (...args: string[]) => {
    const lines = jsonLines(await pair.ok(signer, ["keys", "head", "export", ...args]));
    return lines.map(({ id }) => id);
  };
  assert.deepEqual(await ids("--root", "."), ["deploy", "second"]);
  assert.deepEqual(await ids("--root", "other"), ["third"]);
  assert.deepEqual(await ids("--dialect", "rye"), []);
  assert.deepEqual(await ids(), ["deploy", "second", "third"]);
});

test("streams are expected where a data directory is verified, and reported as not checked elsewhere", () => {
  const pins = [pinOf("/a", 1, { place: "streams:/data" }), pinOf("x/1", 1, { place: "guard:/g" })];
  const against = { file: "heads.jsonl", pins };
  const ofStreams = new ExpectedPins(against, { sessions: false, streams: true });
  const [report, ...others] = ofStreams.missing();
  assert.deepEqual([report?.session, report?.verdict, others.length], ["/a", "rollback", 0]);
  assert.equal(ofStreams.notChecked(), null);
  const ofSessions = new ExpectedPins(against, { sessions: true, streams: false });
  assert.deepEqual(ofSessions.missing(), []);
  expect(ofSessions.notChecked()).toMatch(/^2 heads in heads.jsonl are of streams or of/);
});
