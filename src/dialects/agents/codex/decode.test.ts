/** Which file is which session. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../../test/support/refusal.ts";
import { idAt, logPath, nameOf } from "./decode.ts";

const UUID = "01998190-fba6-7f40-9309-dc4e48c5844a";
const NAME = `rollout-2025-09-25T09-49-46-${UUID}`;

test("a rollout's id is its path without the ending, compressed or not", () => {
  const day = ["sessions", "2025", "09", "25"];
  const id = [...day, NAME].join("/");
  assert.equal(idAt([...day, `${NAME}.jsonl`]), id);
  assert.equal(idAt([...day, `${NAME}.jsonl.zst`]), id);
  assert.deepEqual(logPath(id), [...day, `${NAME}.jsonl`]);
  assert.equal(idAt(["archived_sessions", `${NAME}.jsonl.zst`]), `archived_sessions/${NAME}`);
  assert.equal(nameOf(id), UUID);
});

test("other files of Codex are no sessions", () => {
  for (const path of ["history.jsonl", "sessions/x.jsonl", `sessions/2025/${NAME}.jsonl`]) {
    assert.equal(idAt(path.split("/")), null);
  }
  for (const id of ["history", "../sessions/x", `archived_sessions/2025/${NAME}`]) {
    thrownRefusal(() => logPath(id), "BAD_ID");
  }
});
