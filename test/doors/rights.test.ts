/**
 * A log is private to its owner: one that others may read is made 0600 when it is opened to append.
 */

import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, vi } from "vitest";
import { narrowRights } from "../../src/core/log/open-log.ts";
import { openStore } from "../../src/doors/index.ts";
import { openLog, readLog } from "../../src/doors/log.ts";
import { logHolding, openWriter } from "../support/open-log.ts";
import { errno } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const rightsOf = (path: string) => statSync(path).mode & 0o777;

test.each([0o644, 0o660, 0o700, 0o666])(
  "a log with mode %o is 0600 once it is opened to append, with a warning",
  async (mode) => {
    const path = logHolding("{}\n");
    chmodSync(path, mode);
    for await (const _ of readLog(path)) assert.equal(rightsOf(path), mode);
    const warnings: string[] = [];
    const onWarning = (warning: string) => warnings.push(warning);
    await openWriter(path, { onWarning });
    assert.equal(rightsOf(path), 0o600);
    assert.deepEqual(warnings, [`${path} had mode 0${mode.toString(8)}; changed to 0600`]);
  },
);

test("a log with at most 0600 is not changed, without a warning", async () => {
  const path = logHolding("{}\n");
  chmodSync(path, 0o600);
  await openWriter(path, { onWarning: (warning) => assert.fail(warning) });
  assert.equal(rightsOf(path), 0o600);
});

test("a session that others may read is made 0600 through its store, with a warning", async () => {
  const root = tempDirectory();
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  const catalogPath = join(root, "catalog.db");
  const options = { dialect: "homeagent", root, agent: "kitchen", catalogPath, onWarning } as const;
  const entry = { kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] } as const;
  const store = await openStore(options);
  const session = await store.create({ id: "kitchen/s" });
  const { id, path } = session;
  await session.append(entry);
  await store.close();
  chmodSync(path, 0o640);
  const again = await openStore(options);
  await again.session(id).append(entry);
  await again.close();
  assert.equal(rightsOf(path), 0o600);
  assert.deepEqual(warnings, [`${path} had mode 0640; changed to 0600`]);
});

test("without onWarning, the log entry point emits a process warning", async () => {
  const path = logHolding("{}\n");
  chmodSync(path, 0o644);
  const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  try {
    await (await openLog(path)).close();
    assert.match(String(emit.mock.calls[0]?.[0]), /had mode 0644; changed to 0600$/);
  } finally {
    emit.mockRestore();
  }
});

test("a log whose mode cannot be changed is appended to, with a warning", () => {
  const warnings: string[] = [];
  const narrow = () => {
    throw errno("EPERM");
  };
  narrowRights({ narrow } as never, "/a.jsonl", (warning) => warnings.push(warning));
  assert.deepEqual(warnings, [
    "others may read /a.jsonl, and its mode cannot be changed (EPERM); make it 0600",
  ]);
});
