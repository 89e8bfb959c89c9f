import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { newThreadId } from "../../src/doors/rye.ts";
import { startChild } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("sessions begun within one second all get their own id, at once", async () => {
  const root = tempDirectory();
  const stores = [1, 2].map(() =>
    openStore({ dialect: "rye", root, agent: "a", durability: "os" }),
  );
  const began = Date.now();
  const created = stores.map(async (opening) => {
    const store = await opening;
    onTestFinished(() => store.close());
    return Promise.all(Array.from({ length: 20 }, () => store.create()));
  });
  const sessions = (await Promise.all(created)).flat();
  const seconds = sessions.map(({ id }) => Number(id.match(/^a-(\d+)$/)?.[1]));
  assert.equal(new Set(seconds).size, 40);
  const latest = Math.floor(Date.now() / 1000) + 40;
  for (const second of seconds) assert.ok(second >= Math.floor(began / 1000) && second <= latest);
  for (const { path } of sessions) assert.ok(existsSync(path));
});

test("processes that begin sessions at the same time get their own ids", async () => {
  const root = tempDirectory();
  const children = [1, 2, 3].map(() => startChild("test/doors/creating-child.ts", root, "10"));
  const ids = (await Promise.all(children.map((child) => child.line()))).flatMap(
    (line) => JSON.parse(line ?? "[]") as string[],
  );
  assert.equal(new Set(ids).size, 30);
  for (const id of ids) assert.ok(existsSync(join(root, ".ai/threads", id)));
});

test("newThreadId keeps the document's rule: this second's id, or a refusal", async () => {
  const projectPath = tempDirectory();
  const twice = async () => [
    await newThreadId("a", { projectPath }),
    await newThreadId("a", { projectPath }),
    await newThreadId("a", { projectPath }),
  ];
  await refusal(twice(), "SESSION_EXISTS");
});

test("a session without an agent is refused with what is missing", async () => {
  const store = await openStore({ dialect: "rye", root: tempDirectory() });
  onTestFinished(() => store.close());
  const { details } = await refusal(store.create(), "BAD_SETTING");
  assert.equal(details.setting, "agent");
});
