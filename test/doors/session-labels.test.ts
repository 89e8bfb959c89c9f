/** Labels: title, tags, user and metadata of a session, metadata of an entry, and who lists them. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { LABEL_LIMITS } from "../../src/core/model/entry-check.ts";
import { openHistory } from "../../src/doors/history.ts";
import { type CreateOptions, type NewEntry, openStore } from "../../src/doors/index.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const LABELS = {
  title: "Oven watch",
  tags: ["kitchen", "nightly"],
  user: "ada",
  metadata: { ticket: 4711, nested: { deep: [true, null] } },
};
const SAID: NewEntry = { kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] };

test.each(["verbatim", "sdk"] as const)(
  "labels of a session are listed, in %s",
  async (dialect) => {
    const root = tempDirectory();
    const store = await openStore({ dialect, root, agent: "cook" });
    const session = await store.create(LABELS);
    await session.append({ ...SAID, metadata: { traceId: "t-1" } });
    const [entry] = await session.last(1);
    assert.deepEqual(entry?.metadata, { traceId: "t-1" });
    const [{ title, tags, user, metadata } = assert.fail("it is not listed")] = await store.list();
    assert.deepEqual({ title, tags, user, metadata }, LABELS);
    await store.close();
    for await (const listed of openHistory({ roots: [root] }).sessions()) {
      assert.deepEqual(
        [listed.title, listed.tags, listed.user, listed.metadata],
        [LABELS.title, LABELS.tags, LABELS.user, LABELS.metadata],
      );
    }
  },
);

test("ls --json has the labels of a session; without any they are empty", async () => {
  const cli = new CliUser();
  const store = await openStore({ root: cli.cwd });
  await (await store.create({ ...LABELS, id: "labelled" })).append(SAID);
  await (await store.create({ id: "plain" })).append(SAID);
  await store.close();
  const { stdout } = await cli.run(["ls", "--json", "--sort", "id"]);
  assert.deepEqual(
    jsonLines(stdout).map(({ id, tags, user, metadata }) => [id, tags, user, metadata]),
    [
      ["labelled", LABELS.tags, LABELS.user, LABELS.metadata],
      ["plain", [], null, null],
    ],
  );
});

test("the last line that says a label counts", async () => {
  const store = await openStore({ root: tempDirectory() });
  const session = await store.create({ title: "First", tags: ["a"] });
  await session.appendLines([{ type: "entry", title: "Second", entry: SAID }]);
  const [{ title, tags } = assert.fail("it is not listed")] = await store.list();
  assert.deepEqual([title, tags], ["Second", ["a"]]);
  await store.close();
});

const { charsMax, tagsMax, metadataCharsMax } = LABEL_LIMITS;
const long = (chars: number) => "x".repeat(chars);
const bag = (chars: number) => ({ a: long(chars - '{"a":""}'.length) });

test.each<[string, CreateOptions, CreateOptions]>([
  ["title", { title: long(charsMax) }, { title: long(charsMax + 1) }],
  ["user", { user: long(charsMax) }, { user: long(charsMax + 1) }],
  ["tags", { tags: Array(tagsMax).fill("t") }, { tags: Array(tagsMax + 1).fill("t") }],
  ["tags.0", { tags: [long(charsMax)] }, { tags: [""] }],
  ["metadata", { metadata: bag(metadataCharsMax) }, { metadata: bag(metadataCharsMax + 1) }],
])("a label at its limit is written, and none past it: %s", async (field, good, bad) => {
  const root = tempDirectory();
  const store = await openStore({ root });
  const { details } = await refusal(store.create({ ...bad, id: "bad" }), "INVALID_ENTRY");
  assert.equal(details.field, field);
  assert.equal(existsSync(join(root, ".verbatim/sessions/bad.jsonl")), false);
  await store.create(good);
  await store.close();
});

test.each(["rye", "homeagent", "entire", "claude"] as const)(
  "a dialect without room for labels and metadata refuses them, and writes nothing: %s",
  async (dialect) => {
    const root = tempDirectory();
    const store = await openStore({ dialect, root, agent: "cook" });
    for (const [name, value] of Object.entries(LABELS)) {
      const { message } = await refusal(store.create({ [name]: value }), "BAD_SETTING");
      assert.match(message, new RegExp(`${name} has no room in lines of the dialect ${dialect}`));
    }
    const session = store.session(dialect === "homeagent" || dialect === "claude" ? "a/b" : "a-1");
    const { details } = await refusal(
      session.append({ ...SAID, metadata: { a: 1 } }),
      "INVALID_ENTRY",
    );
    assert.equal(details.field, "metadata");
    assert.equal(existsSync(session.path), false);
    await store.close();
  },
);
