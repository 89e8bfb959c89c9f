/** `verbatim redact prove` and `verify FILE.vbp`: what a person and a script see. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";

const ID = "hello-1739012630";

class Prover extends CliUser {
  readonly path = join(this.cwd, ".ai/threads", ID, "transcript.jsonl");

  async record(texts: readonly string[], ...more: string[]): Promise<void> {
    const turns = texts.flatMap((text) => [
      { type: "step_start" },
      { type: "assistant_text", text },
    ]);
    const args = ["record", "--dialect", "rye", "--directive", "hello", "--session", ID, ...more];
    const input = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
    assert.equal((await this.run(args, { input })).code, 0);
  }

  lineOf(text: string): number {
    return (
      readFileSync(this.path, "utf8")
        .split("\n")
        .findIndex((line) => line.includes(text)) + 1
    );
  }

  prove(...args: string[]) {
    return this.run(["redact", "prove", ID, ...args]);
  }
}

test("a proof of one entry convinces a reader who has the public key", async () => {
  const user = new Prover();
  await user.record(["good morning", "the answer", "private", "good night"], "--sign");
  const entry = user.lineOf("the answer");
  const made = await user.prove("--entry", String(entry), "-o", "answer.vbp");
  expect([made.code, made.stdout]).toEqual([0, "answer.vbp: verified: 1 line\n"]);
  const proof = join(user.cwd, "answer.vbp");
  const text = readFileSync(proof, "utf8");
  assert.ok(text.includes("the answer") && !text.includes("private"));

  const own = await user.run(["verify", "answer.vbp"]);
  expect([own.code, own.stdout]).toEqual([
    0,
    expect.stringContaining("verified: 1 line; it says nothing about other"),
  ]);
  expect(own.stdout).toContain(`line ${entry} (entry ${entry}), turn 2, in checkpoint `);
  expect(own.stdout).toContain("cannot be checked: hash, sig and seg of every checkpoint");

  const reader = new CliUser();
  const { stdout: pem } = await user.run(["keys", "export"]);
  writeFileSync(join(reader.cwd, "ada.pem"), pem);
  const verify = (path: string, ...more: string[]) =>
    reader.run(["verify", path, "--json", ...more]);
  const [untrusted, trusted] = [await verify(proof), await verify(proof, "--key", "ada.pem")];
  expect([untrusted.code, trusted.code]).toEqual([4, 0]);
  expect(jsonLines(trusted.stdout)[0]).toMatchObject({
    schema: "verbatim.proof/1",
    verdict: "verified",
    session: ID,
    freshness: "none",
    lines: [{ line: entry, entry, turn: 2, text: expect.stringContaining("the answer") }],
  });
  writeFileSync(join(reader.cwd, "other"), text.replace("the answer", "no answer!"));
  expect((await verify("other", "--key", "ada.pem")).code).toBe(1);
  const pinned = await verify(proof, "--key", "ada.pem", "--require-pin");
  expect([pinned.code, jsonLines(pinned.stdout)[0]]).toMatchObject([6, { verdict: "unpinned" }]);
});

test("entries of a disclosed copy are proven from it, unless they are withheld there", async () => {
  const user = new Prover();
  await user.record(["good morning", "the answer", "private", "good night"], "--sign");
  const [entry, secret] = [user.lineOf("the answer"), user.lineOf("private")].map(String);
  const redact = ["redact", ID, "--reason", "x", "--match", "private", "-o", "hello.vbd", "--yes"];
  expect((await user.run(redact)).code).toBe(0);
  const made = await user.run([
    "redact",
    "prove",
    "hello.vbd",
    "--entry",
    entry ?? "",
    "-o",
    "a.vbp",
  ]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect((await user.run(["verify", "a.vbp"])).code).toBe(0);
  const direct = await user.prove("--entry", entry ?? "", "-o", "b.vbp");
  expect(direct.code).toBe(0);
  expect(readFileSync(join(user.cwd, "b.vbp"))).toEqual(readFileSync(join(user.cwd, "a.vbp")));
  const hidden = await user.run([
    "redact",
    "prove",
    "hello.vbd",
    "--entry",
    secret ?? "",
    "-o",
    "c.vbp",
  ]);
  expect([hidden.code, hidden.stderr]).toEqual([7, expect.stringContaining("is withheld here")]);
  assert.ok(!existsSync(join(user.cwd, "c.vbp")));
});

test("two checkpoints are compared", async () => {
  const user = new Prover();
  await user.record(["one", "two", "three", "four"], "--sign");
  const made = await user.prove("--consistency", "1..3", "-o", "heads.vbp");
  expect(made.stdout).toBe("heads.vbp: verified: checkpoint 3 continues checkpoint 1\n");
  const { stdout } = await user.run(["verify", "heads.vbp"]);
  expect(stdout).toContain("checkpoint 3 continues the log of checkpoint 1");
});

test("wrong arguments and sessions that prove nothing are refused", async () => {
  const user = new Prover();
  await user.record(["one"]);
  for (const args of [
    [],
    ["--entry", "1"],
    ["--entry", "0", "-o", "a.vbp"],
    ["--entry", "x", "-o", "a.vbp"],
    ["--entry", "1", "-o", "a.txt"],
    ["--entry", "1", "--context", "1001", "-o", "a.vbp"],
    ["--consistency", "3", "-o", "a.vbp"],
  ]) {
    expect([args, (await user.prove(...args)).code]).toEqual([args, 2]);
  }
  const unsigned = await user.prove("--entry", "1", "-o", "a.vbp");
  expect(unsigned.stderr).toContain("CANNOT_DISCLOSE");
  const signed = new Prover();
  await signed.record(["one", "two"], "--sign");
  const bytes = readFileSync(signed.path, "utf8");
  writeFileSync(signed.path, bytes.replace("one", "One"));
  const tampered = await signed.prove("--entry", "1", "-o", "a.vbp");
  expect([tampered.code, tampered.stderr]).toEqual([1, expect.stringContaining("NOT_VERIFIED")]);
  assert.ok(!existsSync(join(signed.cwd, "a.vbp")));
});
