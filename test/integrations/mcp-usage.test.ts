/** The read tool on rows of one message, as Claude Code writes them. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readTool } from "../../src/integrations/mcp/read-tool.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("read_session shows the usage of a message once, also when its rows are on two pages", async () => {
  const root = tempDirectory();
  const path = join(root, ".verbatim/claude/app/s/transcript.jsonl");
  const row = (n: number, id: string) => ({
    type: "assistant",
    uuid: `u${n}`,
    message: {
      id,
      role: "assistant",
      content: [{ type: "text", text: `said ${n}` }],
      usage: { input_tokens: 4321, output_tokens: n },
    },
  });
  mkdirSync(dirname(path), { recursive: true });
  const rows = [row(1, "a"), row(2, "a"), row(3, "a"), row(4, "b")];
  writeFileSync(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const session = new Store(nodeHost, { dialect: "claude", root }).session("app/s");
  const read = async (taken: object) => {
    const call = { session: "app/s", ...taken };
    const answer = await readTool(nodeHost, session, call, new AbortController().signal);
    const { entries } = answer as { entries: { text: string }[] };
    return entries.map(({ text }) => /4,?321/.test(text));
  };
  assert.deepEqual(await read({}), [false, false, true, true]);
  assert.deepEqual(await read({ limit: 2 }), [false, false]);
  assert.deepEqual(await read({ from_end: true }), [false, false, true, true]);
  await session.release();
});
