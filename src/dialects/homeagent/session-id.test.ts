import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { idSegments } from "../../core/base/ids.ts";
import { homeagent } from "./dialect.ts";
import { sessionIdOf } from "./session-id.ts";

test("a session's log is agents/<agentId>/sessions/<sessionId>.jsonl (S0-2)", () => {
  assert.deepEqual(homeagent.naming.logPath("cook/2026-11-15"), [
    "agents",
    "cook",
    "sessions",
    "2026-11-15.jsonl",
  ]);
  assert.equal(sessionIdOf("cook", "2026-11-15"), "cook/2026-11-15");
});

test("an id that holds a slash, a backslash, two dots, NUL or nothing is refused, and the error says which of the two ids it is (S0-12)", () => {
  const bad = ["a/b", "/", "/etc", "a\\b", "..", "a..b", "../a", "a\0b", "", ".", "a\nb", "\x7f"];
  for (const id of [...bad, "a".repeat(201), "é".repeat(101), "\ud800"]) {
    const agent = thrownRefusal(() => sessionIdOf(id, "ok"), "BAD_ID");
    assert.equal(agent.details.id, id);
    assert.match(agent.details.reason, /^agentId: /);

    const session = thrownRefusal(() => sessionIdOf("ok", id), "BAD_ID");
    assert.equal(session.details.id, id);
    assert.match(session.details.reason, /^sessionId: /);
  }
});

test("an id of 200 bytes is accepted, as agent and as session", () => {
  const longest = "é".repeat(100);
  assert.equal(sessionIdOf(longest, longest), `${longest}/${longest}`);
});

test("two pairs of ids that would join to the same text are both refused", () => {
  thrownRefusal(() => sessionIdOf("a/b", "c"), "BAD_ID");
  thrownRefusal(() => sessionIdOf("a", "b/c"), "BAD_ID");
  thrownRefusal(() => homeagent.naming.logPath("a/b/c"), "BAD_ID");
});

test("a neutral id without exactly one agent and one session is refused", () => {
  for (const id of ["", "a", "a/", "/a", "a//b", "a/b/", "a/b/c", "../x", "a/.."]) {
    thrownRefusal(() => homeagent.naming.logPath(id), "BAD_ID");
  }
});

test("only a path of exactly the log's form belongs to a session", () => {
  assert.equal(homeagent.naming.idAt(["agents", "a", "sessions", "s.jsonl"]), "a/s");
  const others = [
    [],
    ["agents"],
    ["agents", "a", "sessions"],
    ["agents", "a", "sessions", "s"],
    ["agents", "a", "sessions", ".jsonl"],
    ["agents", "a", "sessions", "s.jsonl.lock"],
    ["agents", "a", "sessions", "s.JSONL"],
    ["agents", "a", "sessions", "s.jsonl", "x"],
    ["agents", "a", "sessions", "x", "s.jsonl"],
    ["agents", "a", "session", "s.jsonl"],
    ["agent", "a", "sessions", "s.jsonl"],
    ["x", "agents", "a", "sessions", "s.jsonl"],
    ["agents", "..", "sessions", "s.jsonl"],
    ["agents", "a/b", "sessions", "s.jsonl"],
    ["agents", "", "sessions", "s.jsonl"],
    ["agents", "a", "sessions", "a\\b.jsonl"],
    ["agents", "a", "sessions", `${"s".repeat(201)}.jsonl`],
  ];
  for (const path of others) assert.equal(homeagent.naming.idAt(path), null, path.join(" "));
});

test("a session id may itself end in .jsonl", () => {
  assert.deepEqual(homeagent.naming.logPath("a/s.jsonl").at(-1), "s.jsonl.jsonl");
  assert.equal(homeagent.naming.idAt(["agents", "a", "sessions", "s.jsonl.jsonl"]), "a/s.jsonl");
});

test("ids and paths are each other's inverse, and two ids never share a path", () => {
  // Method: ids made of the pieces that have broken path checks before.
  const pieces = [
    "/",
    "\\",
    "..",
    ".",
    "\0",
    ".jsonl",
    "sessions",
    "agents",
    "a",
    "é",
    "\ud83d",
    " ",
  ];
  const id = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(""));
  const owners = new Map<string, string>();
  let taken = 0;

  fc.assert(
    fc.property(id, id, (agentId, sessionId) => {
      let joined: string;
      try {
        joined = sessionIdOf(agentId, sessionId);
      } catch {
        const path = ["agents", agentId, "sessions", `${sessionId}.jsonl`];
        assert.equal(homeagent.naming.idAt(path), null);
        return;
      }
      taken++;
      const path = homeagent.naming.logPath(joined);
      assert.equal(homeagent.naming.idAt(path), joined);
      const owner = JSON.stringify([agentId, sessionId]);
      assert.equal(owners.get(path.join("/")) ?? owner, owner);
      owners.set(path.join("/"), owner);
    }),
    { numRuns: 3000 },
  );
  assert.ok(taken > 0);
});

test("an id is accepted exactly when it is one valid segment by the common rules", () => {
  const pieces = [
    ".",
    "-",
    "_",
    "a",
    "7",
    "é",
    "/",
    "..",
    " ",
    "\n",
    "a".repeat(99),
    "b".repeat(100),
  ];
  const id = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(""));
  const isOneSegment = (id: string) => isTaken(() => assert.equal(idSegments(id).length, 1));
  fc.assert(
    fc.property(id, (id) => {
      assert.equal(
        isTaken(() => sessionIdOf(id, "ok")),
        isOneSegment(id),
      );
    }),
    { numRuns: 3000 },
  );
});

function isTaken(take: () => unknown): boolean {
  try {
    take();
    return true;
  } catch {
    return false;
  }
}
