/** Agents and trees of sessions in our own layout: as a program records them, and as `ls` shows them. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser, jsonLines } from "./cli.ts";

function said(text: string) {
  return { kind: "message", role: "user", parts: [{ type: "text", text }] } as const;
}

function started(session: string) {
  return { kind: "other", parts: [{ type: "child", session, agent: null }] } as const;
}

/** A plan, two sessions that it started, and one that the first of these started. */
async function writeTree(root: string): Promise<void> {
  const store = await openStore({ root, agent: "planner" });
  const plan = await store.create({ id: "plan" });
  await plan.append(said("plan a dinner"));
  const soup = await store.create({ id: "soup", agent: "cook", parent: plan.id });
  await soup.append(said("make a soup"));
  const salt = await store.create({ id: "salt", agent: "cook", parent: soup.id });
  await salt.append(said("buy salt"));
  const wine = await store.create({ id: "wine" });
  await wine.append(said("choose a wine"));
  await plan.append(started(wine.id));
  await store.close();
}

test("the agent and the parent of a session are listed, also of one that only a child part names", async () => {
  const user = new CliUser();
  await writeTree(user.cwd);
  const listed = async () => {
    const { stdout } = await user.run(["ls", "--json", "--sort", "id"]);
    return jsonLines(stdout).map(({ id, agent, parent }) => [id, agent, parent]);
  };
  const expected = [
    ["plan", "planner", null],
    ["salt", "cook", "soup"],
    ["soup", "cook", "plan"],
    ["wine", "planner", "plan"],
  ];
  assert.deepEqual(await listed(), expected);
  assert.deepEqual(await listed(), expected, "from the catalog");

  const store = await openStore({ root: user.cwd });
  await (await store.open("wine")).append(said("red or white?"));
  await store.close();
  assert.deepEqual(await listed(), expected, "the child has changed, its parent has not");
});

test("sessions of an agent are found by its name, in lists and in search", async () => {
  const user = new CliUser();
  await writeTree(user.cwd);
  const { stdout } = await user.run(["ls", "--json", "--agent", "cook", "--sort", "id"]);
  assert.deepEqual(
    jsonLines(stdout).map(({ id }) => id),
    ["salt", "soup"],
  );
  const found = await user.run(["search", "soup agent:cook", "--json"]);
  assert.match(found.stdout, /"agent":"cook"/);
  assert.equal((await user.run(["search", "soup agent:planner", "--json"])).stdout, "");
});

test("a terminal shows sessions below those that started them", async () => {
  const user = new CliUser();
  await writeTree(user.cwd);
  const shown = await user.runInTerminal(["ls", "--sort", "created"]);
  const titles = shown.split("\n").flatMap((line) => {
    return (
      /( *└ )?(plan a dinner|make a soup|buy salt|choose a wine)/.exec(line)?.[0].trimEnd() ?? []
    );
  });
  assert.deepEqual(
    titles.map((title) => title.replace(/^ */, "")),
    ["plan a dinner", "└ choose a wine", "└ make a soup", "└ buy salt"],
  );
});

test("two sessions that name each other as their children have no parent", async () => {
  const root = tempDirectory();
  const store = await openStore({ root, catalogPath: join(root, "catalog") });
  for (const [id, other] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    await (await store.create({ id })).append(started(other));
  }
  const parents = (await store.list()).map(({ parent }) => parent);
  assert.deepEqual(parents, [null, null]);
  await store.close();
});

test("a parent is refused in a layout whose lines cannot name it, and if it can be no session's id", async () => {
  const root = tempDirectory();
  const homeagent = await openStore({ root, dialect: "homeagent" });
  await refusal(homeagent.create({ agent: "cook", parent: "cook/s1" }), "BAD_SETTING");
  const store = await openStore({ root });
  await refusal(store.create({ parent: "../up" }), "BAD_ID");
  assert.deepEqual(await store.list(), []);
  const rye = await openStore({ root, dialect: "rye", agent: "cook" });
  const { id } = await rye.create({ parent: "plan-1" });
  await rye.close();
  const [thread] = await rye.list();
  assert.deepEqual([thread?.id, thread?.parent], [id, "plan-1"]);
});
