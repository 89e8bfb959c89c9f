/**
 * A session in another dialect: another session, with the same conversation, and a report of the
 * rest.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewEntry } from "../../../src/core/model/entry.ts";
import { dialectNamed } from "../../../src/dialects/all.ts";
import { deletion } from "../../../src/dialects/hooks/lines.ts";
import type { DialectName } from "../../../src/dialects/registry.ts";
import { resume, type Unpacked } from "../../../src/doors/resume.ts";
import { verify } from "../../../src/doors/signing.ts";
import { LOG } from "../../../src/resume/handoff/member-names.ts";
import { unpackBundle } from "../../../src/resume/handoff/unpack.ts";
import { mapEntry, mappingFacts } from "../../../src/sessions/store/entry-mapping.ts";
import { errno, refusal } from "../../support/refusal.ts";
import { said, writtenBy } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { settledTreeAt, treeAt } from "../../support/tree.ts";
import { WatchedFiles } from "../../support/watched-files.ts";
import { agentSession, throughDialect } from "../any-session.ts";
import { HandingUser, TALK } from "./handing.ts";

const NAMES: readonly DialectName[] = ["rye", "homeagent", "entire"];
const WAYS = NAMES.flatMap((from) => {
  return NAMES.filter((to) => to !== from).map((to) => [from, to] as const);
});

test.each(WAYS)("from %s to %s: the conversation is there, and signed again", async (from, to) => {
  const [ada, ben] = [new HandingUser(), new HandingUser()];
  const written = await ada.write({ dialect: from }, TALK);
  const { path, manifest } = await ada.handoff(written);
  const options = { for: "anthropic", prompt: null } as const;
  const before = await resume(written.target.id, { ...options, root: written.target.root });
  await ben.enter();
  await ben.trust(ada);
  const root = tempDirectory();
  const unpacked = await ben.unpack(path, { root, dialect: to });
  assert.deepEqual([unpacked.verdict, unpacked.dialect], ["verified", to]);
  assert.deepEqual(unpacked.from, manifest);
  const after = await resume(unpacked.session, { ...options, root });
  assert.deepEqual(after.messages, before.messages);
  assert.deepEqual([after.system, after.model], [before.system, before.model]);
  accountsForAll(unpacked, readFileSync(written.path, "utf8").split("\n").length - 1);
  assert.ok(unpacked.fidelity.kept >= 3, "most is kept");
  const log = readFileSync(unpacked.path, "utf8");
  const origin = log.split("\n").find((line) => line.includes('"handoff_report"')) ?? "";
  for (const told of [manifest.head.line, manifest.kid, written.target.id]) {
    assert.ok(origin.includes(told), "it says where it comes from");
  }
  const { head, members } = manifest;
  const at = members.find(({ name }) => name === LOG)?.bytes;
  const { from: named } = await verify(unpacked.session, { root });
  assert.deepEqual(named, { log: head.log, seq: head.seq, line: head.line, at });
  assert.ok(!log.includes(written.target.root), "no path of the other machine");
  assert.deepEqual(ben.warnings, []);
});

function accountsForAll({ fidelity }: Unpacked, lines: number): void {
  const { entries, kept, approximated, dropped, changes, byteExact } = fidelity;
  assert.deepEqual([byteExact, entries, kept + approximated + dropped], [false, lines, lines]);
  const told = changes.reduce((all, each) => all + (each.lines ?? 1), 0);
  assert.equal(told, approximated + dropped);
  for (const { fate, why, changed } of changes) {
    assert.ok(fate === "dropped" ? why !== undefined : changed?.length);
  }
}

test("of any agent's session, a line is kept, or the report says what is not", () => {
  // Method: what is reported as kept is written again in its own dialect, and must read the same.
  const facts = mappingFacts({ id: "s", agent: "hello", cwd: "/project" });
  fc.assert(
    fc.property(agentSession, fc.constantFrom(...WAYS), (session, [from, to]) => {
      for (const entry of throughDialect(dialectNamed(from), session)) {
        const mapped = mapEntry(entry, dialectNamed(to), facts);
        if (mapped.fate === "approximated") assert.ok(mapped.changed.length > 0);
        if (mapped.fate !== "kept") continue;
        const { native: _, ...rest } = entry;
        const back = throughDialect(dialectNamed(to), [rest as NewEntry]);
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
        assert.deepEqual(plain(back.flatMap(({ parts }) => parts)), plain(entry.parts));
      }
    }),
    { numRuns: 60 },
  );
});

test("lines that are not part of the conversation do not become part of it in another dialect", async () => {
  const ada = new HandingUser();
  const store = await ada.store({ dialect: "entire", root: tempDirectory() });
  const session = store.session("aside");
  const rows = [
    { type: "user", message: { content: "go" } },
    { type: "user", message: { content: "to another agent" }, isSidechain: true },
    { type: "assistant", message: { model: "<synthetic>", content: "API Error" } },
    { type: "assistant", message: { model: "claude-opus-4-5", content: "done" } },
  ];
  for (const row of rows) await session.appendNative(row);
  await store.close();
  const { path } = await ada.handoff(writtenBy(store, session));
  const root = tempDirectory();
  const { session: id, fidelity } = await ada.unpack(path, { root, dialect: "homeagent" });
  const asides = fidelity.changes.filter(({ why }) => why === "aside");
  assert.equal(
    asides.reduce((all, { lines = 1 }) => all + lines, 0),
    2,
  );
  const { messages, model } = await resume(id, { for: "openai-chat", root, prompt: null });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["go", "done"],
  );
  assert.equal(model, "claude-opus-4-5");
});

test.each(["rye", "homeagent", "entire", "claude"] as const)(
  "undone entries are not copied to another dialect (%s)",
  async (to) => {
    const ada = new HandingUser();
    const store = await ada.store({ dialect: "sdk", root: tempDirectory() });
    const session = store.session("openai-agents/s");
    const item = (role: string, content: string) => {
      return { type: "item", item: { type: "message", role, content } };
    };
    const taken = [item("assistant", "popped"), item("user", "popped too")];
    const lines = [item("user", "go"), ...taken, { type: "pop", count: 2 }];
    await session.appendLines([...lines, item("assistant", "done")]);
    await store.close();
    const { path } = await ada.handoff(writtenBy(store, session));
    const root = tempDirectory();
    const unpacked = await ada.unpack(path, { root, dialect: to, agent: "cook" });
    accountsForAll(unpacked, 5);
    const [change] = unpacked.fidelity.changes;
    assert.deepEqual(change, { line: 2, lines: 2, fate: "dropped", why: "taken_back" });
    const { messages } = await resume(unpacked.session, { for: "openai-chat", root, prompt: null });
    assert.deepEqual(
      messages.map(({ content }) => content),
      ["go", "done"],
    );
  },
);

test("a summary that becomes a plain user message in another dialect is reported as changed", async () => {
  const ada = new HandingUser();
  const store = await ada.store({ dialect: "claude", root: tempDirectory() });
  const session = store.session("app/s");
  const row = (content: string, more = {}) => {
    return { type: "user", message: { role: "user", content }, ...more };
  };
  await session.appendLines([row("what was said", { isCompactSummary: true }), row("go")]);
  await store.close();
  const { path } = await ada.handoff(writtenBy(store, session));
  const { fidelity } = await ada.unpack(path, { root: tempDirectory(), dialect: "homeagent" });
  assert.deepEqual(fidelity.changes, [{ line: 1, fate: "approximated", changed: ["saidBy"] }]);
});

test("entries from before a session was deleted are not copied to another dialect", async () => {
  const ada = new HandingUser();
  const store = await ada.store({ dialect: "claude", root: tempDirectory() });
  const session = store.session("app/s");
  const row = (type: string, content: string) => ({ type, message: { role: type, content } });
  const deleted = [row("user", "secret"), row("assistant", "kept"), deletion(0)];
  await session.appendLines([...deleted, row("user", "go"), row("assistant", "done")]);
  await store.close();
  const { path } = await ada.handoff(writtenBy(store, session));
  const root = tempDirectory();
  const unpacked = await ada.unpack(path, { root, dialect: "homeagent" });
  const { messages } = await resume(unpacked.session, { for: "openai-chat", root, prompt: null });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["go", "done"],
  );
  assert.ok(!readFileSync(unpacked.path, "utf8").includes("secret"));
});

test("what a dialect cannot express is reported, line by line", async () => {
  const ada = new HandingUser();
  const { path } = await ada.handoff(await ada.write({ dialect: "rye" }, TALK));
  const unpacked = await ada.unpack(path, { root: tempDirectory(), dialect: "entire" });
  const { changes, times } = unpacked.fidelity;
  assert.deepEqual([...new Set(changes.map(({ why }) => why))].sort(), ["checkpoint", "no_line"]);
  assert.equal(times, "anew");
  const home = await ada.unpack(path, { root: tempDirectory(), dialect: "homeagent" });
  assert.equal(home.fidelity.times, "kept", "HomeAgent's records take any time");
});

test("the new session has the requested id, once, and the agent", async () => {
  const ada = new HandingUser();
  const { path } = await ada.handoff(await ada.write({ dialect: "rye" }, TALK));
  const root = tempDirectory();
  const to = { root, dialect: "homeagent", id: "kitchen/from-ada" } as const;
  assert.equal((await ada.unpack(path, to)).session, "kitchen/from-ada");
  const before = await settledTreeAt(root);
  await refusal(ada.unpack(path, to), "SESSION_EXISTS");
  await refusal(ada.unpack(path, { ...to, id: "../x" }), "BAD_ID");
  assert.deepEqual(treeAt(root), before);
  const { session } = await ada.unpack(path, { root, dialect: "homeagent" });
  expect(session).toMatch(/^hello\/[0-9a-f-]{36}$/);
  const named = await ada.unpack(path, { root, dialect: "homeagent", agent: "cook" });
  expect(named.session).toMatch(/^cook\//);
});

test("a session that is unpacked unsigned says so", async () => {
  const ada = new HandingUser();
  const { path } = await ada.handoff(await ada.write({ dialect: "entire" }, TALK));
  const unpacked = await ada.unpack(path, { root: tempDirectory(), dialect: "rye", sign: false });
  assert.equal(unpacked.verdict, null);
  expect(unpacked.session).toMatch(/^handoff-\d+$/);
  assert.ok(!readFileSync(unpacked.path, "utf8").includes('"sig2"'));
});

test("a string spilled to a file in one dialect is whole in another", async () => {
  const ada = new HandingUser();
  const long = "x".repeat(9 * 1024 * 1024);
  const { path } = await ada.handoff(await ada.write({ dialect: "entire" }, [said(long)]));
  const { path: log } = await ada.unpack(path, { root: tempDirectory(), dialect: "homeagent" });
  assert.ok(readFileSync(log, "utf8").includes(long));
});

const LOG_NAMES = ["transcript.jsonl", "s.jsonl", "full.jsonl"];

test.each(["rye", "homeagent", "entire"] as const)(
  "when the disk is full no part of a new %s session is left, and its id is free",
  async (to) => {
    const ada = new HandingUser();
    const from = to === "rye" ? "entire" : "rye";
    const { path } = await ada.handoff(await ada.write({ dialect: from }, TALK));
    const root = tempDirectory();
    const id = to === "homeagent" ? "cook/s" : "s";
    const disk = new WatchedFiles();
    let writes = 0;
    disk.before = ({ call, name }) => {
      if (call === "write" && LOG_NAMES.includes(name) && ++writes > 2) throw errno("ENOSPC");
      return undefined;
    };
    const options = { root, dialect: to, id, onWarning: () => {} };
    await refusal(unpackBundle(disk.host, path, options), "NO_SPACE");
    const left = readdirSync(root, { recursive: true, encoding: "utf8" });
    assert.deepEqual(
      left.filter((name) => /jsonl|thread\.json|spill/.test(name)),
      [],
    );
    const unpacked = await ada.unpack(path, options);
    assert.equal(unpacked.verdict, "verified");
    assert.ok(existsSync(dirname(unpacked.path)));
  },
);
