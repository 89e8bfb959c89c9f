import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Native } from "../../src/core/model/entry.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { repairOf, sessionAt } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const CODEX = [
  { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "x" } },
  { timestamp: "2026-01-01T00:00:01Z", type: "event_msg", payload: { type: "user_message" } },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

const OURS: Readonly<Record<string, { id: string; native: Native }>> = {
  rye: { id: "hello-1", native: { type: "user_message", directive: "d", text: "hi" } },
  homeagent: { id: "cook/a", native: { turnId: "1", role: "user", ts: 1, content: "hi" } },
  entire: { id: "a", native: { type: "user", message: { content: "hi" } } },
  claude: { id: "p/s", native: { type: "summary", summary: "s" } },
  sdk: { id: "agents/s", native: { type: "item", item: { role: "user", content: "hi" } } },
};
const dialects = Object.keys(OURS) as DialectName[];

/** A log in the place of that session, written by another program. */
function foreign(dialect: DialectName, content: string): { path: string; store: Store } {
  const store = new Store(nodeHost, { dialect, root: tempDirectory(), onWarning: () => {} });
  const { path } = store.session(OURS[dialect]?.id ?? "");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: 0o644 });
  return { path, store };
}

test.each(dialects)(
  "repair as %s does not change another program's file, and names it",
  async (dialect) => {
    const directory = tempDirectory();
    const path = join(directory, "rollout.jsonl");
    for (const end of ["", '{"torn', CODEX.trimEnd().split("\n")[0] ?? ""]) {
      writeFileSync(path, CODEX + end);
      chmodSync(path, 0o644);
      const steps = await repairOf(await sessionAt(directory, path, dialect));
      expect(steps[0]).toMatchObject({ kind: "failed", code: "FOREIGN_FILE" });
      expect(steps[0]).toHaveProperty(
        "message",
        expect.stringContaining("This is a Codex rollout"),
      );
      assert.equal(readFileSync(path, "utf8"), CODEX + end);
      assert.equal(statSync(path).mode & 0o777, 0o644);
      assert.deepEqual(readdirSync(directory), ["rollout.jsonl"]);
    }
  },
);

test.each(dialects)("opening to append as %s refuses another program's file", async (dialect) => {
  for (const end of ["", '{"torn']) {
    const { path, store } = foreign(dialect, CODEX + end);
    const { id = "", native = {} } = OURS[dialect] ?? {};
    await expect(store.session(id).appendNative(native)).rejects.toMatchObject({
      code: "FOREIGN_FILE",
      details: { path, dialect, lines: 2 },
    });
    assert.equal(readFileSync(path, "utf8"), CODEX + end);
    assert.ok(readdirSync(dirname(path)).every((name) => !name.includes("torn-")));
    await store.close();
  }
});

test("a file without a readable line is not repaired either", async () => {
  const directory = tempDirectory();
  for (const [name, text] of [
    ["notes.md", "# aider chat started at 2026-01-01\n\n#### hello\n> wor"],
    ["chat.json", '{\n  "projectHash": "x",\n  "messages": [\n    {"id"'],
    ["one", "no line at all"],
  ] as const) {
    const path = join(directory, name);
    writeFileSync(path, text);
    const [step] = await repairOf(await sessionAt(directory, path, "entire"));
    expect(step).toMatchObject({ kind: "failed", code: "FOREIGN_FILE" });
    assert.equal(readFileSync(path, "utf8"), text);
  }
});

test.each(dialects)("a crash in the first append of a %s session is repaired", async (dialect) => {
  for (const left of ["", '{"type":"us', "\0\0\0\0"]) {
    const { path, store } = foreign(dialect, left);
    const { id = "", native = {} } = OURS[dialect] ?? {};
    await store.session(id).appendNative(native);
    await store.close();
    assert.match(readFileSync(path, "utf8"), /^\{.*\}\n$/s);
  }
});

test.each(dialects)(
  "a log with one line of %s among others' can be appended to",
  async (dialect) => {
    const { path, store } = foreign(dialect, "");
    const { id = "", native = {} } = OURS[dialect] ?? {};
    await store.session(id).appendNative(native);
    await store.close();
    writeFileSync(path, CODEX + readFileSync(path, "utf8"));
    const again = new Store(nodeHost, { dialect, root: store.root, onWarning: () => {} });
    await again.session(id).appendNative({ ...native, turnId: "2" });
    await again.close();
    assert.ok(readFileSync(path, "utf8").startsWith(CODEX));
  },
);

test("a path with a session that is not read is refused with its program's name", async () => {
  const directory = tempDirectory();
  const path = join(directory, "session.jsonl");
  writeFileSync(path, "# aider chat started at 2026-01-01 00:00:00\n");
  const found = findSession(nodeHost, path, { cwd: directory });
  await expect(found).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  await expect(found).rejects.toThrow(/this is an aider chat history\. Verbatim reads its own/);
  await expect(found).rejects.not.toThrow("--dialect");
});
