/** Unpacking into another dialect, next to the bundle's own session: that session names the new one. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import type { DialectName } from "../../../src/dialects/registry.ts";
import { verify } from "../../../src/doors/signing.ts";
import { filesOf, turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { HandingUser, TALK } from "./handing.ts";

const NAMES: readonly DialectName[] = ["rye", "homeagent", "entire"];
const WAYS = NAMES.flatMap((from) => {
  return NAMES.filter((to) => to !== from).map((to) => [from, to] as const);
});

test.each(WAYS)(
  "unpacked from %s into %s in the same root, the bundle's session links to the new log, and no other does",
  async (from, to) => {
    const ada = new HandingUser();
    const written = await ada.write({ dialect: from }, TALK);
    const { root, id } = written.target;
    const other = await ada.write({ dialect: from }, turnOf("another"), {
      root,
      id: from === "homeagent" ? "kitchen/other" : "other-1739012640",
    });
    const untouched = filesOf(other);
    const before = await verify(id, { root, dialect: from });
    const { path, manifest } = await ada.handoff(written);
    const { session, verdict, notLinked } = await ada.unpack(path, { root, dialect: to });
    assert.deepEqual([verdict, notLinked], ["verified", null]);
    const made = await verify(session, { root, dialect: to });
    const origin = await verify(id, { root, dialect: from });
    assert.equal(origin.verdict, "verified", JSON.stringify(origin.findings));
    assert.deepEqual(origin.links, [{ seq: manifest.head.seq + 1, id: session, log: made.log }]);
    assert.deepEqual([origin.log, origin.freshness], [before.log, "match"]);
    assert.deepEqual(made.links, []);
    assert.equal(made.from?.log, origin.log);
    assert.deepEqual(filesOf(other), untouched);
    assert.deepEqual(ada.warnings, []);
  },
);

test("another session of the same name in the root is not linked, and no byte of it changes", async () => {
  const ada = new HandingUser();
  const written = await ada.write({ dialect: "entire" }, TALK);
  const { path } = await ada.handoff(written);
  const root = tempDirectory();
  const { id } = written.target;
  const namesake = await ada.write({ dialect: "entire" }, turnOf("mine"), { root, id });
  const before = filesOf(namesake);
  const { session, notLinked } = await ada.unpack(path, { root, dialect: "rye" });
  assert.equal(notLinked, "another log is in its place");
  assert.deepEqual(filesOf(namesake), before);
  assert.equal((await verify(session, { root, dialect: "rye" })).verdict, "verified");
});

test("unpacked into another root, no session is linked, and the reason is reported", async () => {
  const ada = new HandingUser();
  const written = await ada.write({ dialect: "rye" }, TALK);
  const { path } = await ada.handoff(written);
  const before = readFileSync(written.path);
  const root = tempDirectory();
  const { notLinked } = await ada.unpack(path, { root, dialect: "entire" });
  assert.match(notLinked ?? "", /there is no session/);
  assert.deepEqual(readFileSync(written.path), before);
});
