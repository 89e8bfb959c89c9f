/** `verbatim export --format html`: what scan finds is masked, and stderr says so. */

import { expect, test } from "vitest";
import { CliUser } from "./cli.ts";

const KEY = `ghp_${"1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX".slice(0, 36)}`;

async function exporter(...texts: readonly string[]) {
  const user = new CliUser();
  const entries = texts.map((text) => ({
    kind: "message",
    role: "user",
    parts: [{ type: "text", text }],
  }));
  const input = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  expect((await user.run(["record", "--session", "notes"], { input })).code).toBe(0);
  return (...args: string[]) => user.run(["export", "notes", "--format", "html", ...args]);
}

test("a page has what scan finds masked, its title included, and says what was masked", async () => {
  const run = await exporter(`the key is ${KEY}`, "mail ada@lovelace.org", "good night");
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("masked: github 1, email 1; --redact none"),
  ]);
  expect(stdout).not.toMatch(/ghp_|lovelace/);
  for (const text of [
    "the key is [key]",
    "mail [email]",
    "good night",
    "What scan found is masked",
  ]) {
    expect(stdout).toContain(text);
  }
  const { stdout: last } = await run("--last", "1");
  expect(last).toContain("good night");
  expect(last).not.toMatch(/\[key\]|ghp_/);
});

test("--redact none leaves all in the page and says so; --redact NAMES masks what these rules find", async () => {
  const run = await exporter(`the key is ${KEY}`, "mail ada@lovelace.org");
  const open = await run("--redact", "none");
  expect(open.stdout).toContain(KEY);
  expect(open.stderr).toContain("not masked: keys and personal data stay in the page");
  const some = await run("--redact", "github");
  expect(some.stdout).toContain("ada@lovelace.org");
  expect(some.stdout).not.toContain(KEY);
  const wrong = await run("--redact", "nope");
  expect([wrong.code, wrong.stdout]).toEqual([expect.any(Number), ""]);
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("there is no rule nope");
});

test("a page in which nothing is found is as before, without a word", async () => {
  const run = await exporter("good night");
  const { stdout, stderr } = await run();
  expect([stderr, stdout]).toEqual(["", expect.stringContaining("<title>good night</title>")]);
});
