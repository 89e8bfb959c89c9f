/** Who speaks in Claude Code's rows: people, programs and other agents, in every command that reads. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser, jsonLines } from "./cli.ts";

let count = 0;

function row(fields: object): object {
  const timestamp = `2026-01-01T00:00:${String(count++ % 60).padStart(2, "0")}.000Z`;
  return { sessionId: "s", uuid: `u-${count}`, timestamp, ...fields };
}

function said(text: string, fields: object = {}): object {
  return row({ type: "user", message: { role: "user", content: text }, ...fields });
}

function answered(text: string, fields: object = {}): object {
  const message = {
    id: `m-${count}`,
    role: "assistant",
    model: "m",
    content: [{ type: "text", text }],
  };
  return row({ type: "assistant", message, ...fields });
}

/** A user with that transcript in an Entire store. */
function userWith(rows: readonly object[]): CliUser {
  const user = new CliUser();
  const directory = join(user.cwd, ".entire/metadata/s");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "full.jsonl"), asLines(...rows));
  return user;
}

const MIXED = [
  said("metaword says the program", { isMeta: true }),
  said("summaryword of before", { isCompactSummary: true }),
  said("typedword"),
  answered("answer"),
  row({
    type: "attachment",
    attachment: { type: "queued_command", prompt: "queuedword", commandMode: "prompt" },
  }),
  said("agentword", { isSidechain: true }),
];

test("role:user finds what people typed, including while the agent worked, and nothing else", async () => {
  const user = userWith(MIXED);
  const found = async (query: string) => (await user.run(["search", query])).code === 0;
  for (const word of ["typedword", "queuedword"]) {
    assert.equal(await found(`role:user ${word}`), true, word);
  }
  for (const word of ["metaword", "summaryword", "agentword"]) {
    assert.equal(await found(`role:user ${word}`), false, word);
    assert.equal(await found(word), true, word);
  }
});

test("a page has the speaker as the heading of each entry", async () => {
  const { stdout } = await userWith(MIXED).run(["export", "s", "--format", "html"]);
  const heads = new Map<string, string>();
  for (const [, head = "", body = ""] of stdout.matchAll(/<h2>(.*?)<\/h2>(.*?)<\/article>/gs)) {
    const word = /\w+word/.exec(body)?.[0];
    if (word) heads.set(word, head);
  }
  assert.deepEqual(Object.fromEntries(heads), {
    metaword: "Program",
    summaryword: "Summary",
    typedword: "User",
    queuedword: "User",
    agentword: "Agent",
  });
});

test("ETF exports queued prompts as the user's, and the title is the typed prompt", async () => {
  const user = userWith(MIXED);
  const { stdout } = await user.run(["export", "s", "--format", "etf"]);
  const users = jsonLines(stdout).filter(({ type }) => type === "user");
  for (const word of ["typedword", "queuedword"]) {
    expect(JSON.stringify(users)).toContain(word);
  }
  expect(stdout).not.toContain("agentword");
  const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.equal(listed?.title, "typedword");
});

test("a log with only a sub-agent's rows is its own session in lists, pages and exports", async () => {
  const user = userWith([
    said("taskword", { isSidechain: true }),
    answered("doneword", { isSidechain: true }),
  ]);
  const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.deepEqual([listed?.title, listed?.model], ["taskword", "m"]);
  const { stdout } = await user.run(["export", "s", "--format", "etf"]);
  expect(stdout).toContain("taskword");
  expect(stdout).toContain("doneword");
});

test("a queued prompt of an older version is the user's in search, pages and ETF", async () => {
  const user = userWith([
    said("typedword"),
    row({ type: "queue-operation", operation: "enqueue", content: "waitingword" }),
    row({ type: "queue-operation", operation: "remove" }),
    answered("answer"),
  ]);
  assert.equal((await user.run(["search", "role:user waitingword"])).code, 0);
  const page = (await user.run(["export", "s", "--format", "html"])).stdout;
  expect(page).toMatch(
    /by-user[^>]*>\s*<header class="who"><h2>User<\/h2>(?:(?!<\/article>).)*waitingword/s,
  );
  const { stdout } = await user.run(["export", "s", "--format", "etf"]);
  const users = jsonLines(stdout).filter(({ type }) => type === "user");
  expect(JSON.stringify(users)).toContain("waitingword");
});
