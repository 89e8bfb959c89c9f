import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Session } from "./session.ts";
import { Store } from "./store.ts";

const line = (n: number) => `{"turnId":"${n}","role":"user","content":"said ${n}","ts":1}\n`;
const LENGTH = line(1).length;

function followed(): { session: Session; log: string } {
  const root = tempDirectory();
  const log = join(root, "agents/cook/sessions/s1.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, line(1) + line(2) + line(3));
  return { session: new Store(nodeHost, { dialect: "homeagent", root }).session("cook/s1"), log };
}

test("a follower is notified of undone entries before it gets their replacements", async () => {
  const { session, log } = followed();
  const stop = new AbortController();
  const seen: unknown[] = [];
  const onRewound = ({ from, to }: { from: number; to: number }) => {
    seen.push([from, to]);
    appendFileSync(log, line(4));
  };
  try {
    for await (const { native } of session.follow({ onRewound, signal: stop.signal })) {
      seen.push(native.content);
      if (native.content === "said 3") truncateSync(log, LENGTH);
      if (native.content === "said 4") stop.abort();
    }
  } catch (cause) {
    if (!stop.signal.aborted) throw cause;
  }
  const rewound = [3 * LENGTH, LENGTH];
  assert.deepEqual(seen, ["said 1", "said 2", "said 3", rewound, "said 4"]);
});

test("without onRewound, following fails with LOG_REWOUND when entries are undone", async () => {
  const { session, log } = followed();
  const following = (async () => {
    for await (const { native } of session.follow()) {
      if (native.content === "said 3") truncateSync(log, LENGTH);
    }
  })();
  const { details } = await refusal(following, "LOG_REWOUND");
  assert.deepEqual([details.from, details.to], [3 * LENGTH, LENGTH]);
});
