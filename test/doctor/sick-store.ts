/** A rye project with every fault, for tests that examine or repair it. */

import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { WHOLE_THREAD, writeThread } from "../support/examining.ts";

/** Every code that this project causes, so that none is forgotten. */
export const SICK_CODES = [
  "BAD_LINE",
  "BLANK_LINE",
  "DANGLING_CALL",
  "DERIVED_MISSING",
  "DERIVED_STALE",
  "DUPLICATE_RESULT",
  "LOG_MISSING",
  "MISSING_LF",
  "NUL_LINE",
  "SYMLINK_REFUSED",
  "TEMP_LEFT",
  "TORN_TAIL",
  "UNKNOWN_CALL_RESULT",
  "WRONG_MODE",
];

/** Creates it in the directory `project`. */
export async function makeSickStore(project: string): Promise<void> {
  const threads = join(project, ".ai/threads");
  const write = (id: string, events = WHOLE_THREAD) => writeThread(project, id, events);
  appendFileSync(await write("torn-1"), '{"ts":"2026');
  const unterminated = await write("unterminated-1");
  writeFileSync(unterminated, readFileSync(unterminated).subarray(0, -1));
  const bad = await write("deep/er/bad-1");
  const lines = readFileSync(bad, "utf8");
  writeFileSync(bad, `no json\n\0\0\n\n${lines}`);
  await write("calls-1", [
    ...WHOLE_THREAD.slice(0, 4),
    { type: "tool_call_result", call_id: "c1", output: "again" },
    { type: "tool_call_result", call_id: "c2", output: "of nothing" },
    { type: "tool_call_start", tool: "t", call_id: "c3" },
  ]);
  await write("files-1");
  writeFileSync(join(threads, "files-1/transcript.md"), "stale");
  writeFileSync(join(threads, "files-1/thread.json"), "{");
  writeFileSync(join(threads, "files-1/thread.json.tmp"), "left", { mode: 0o600 });
  await write("lacking-1");
  rmSync(join(threads, "lacking-1/transcript.md"));
  rmSync(join(threads, "lacking-1/thread.json"));
  await write("lost-1");
  rmSync(join(threads, "lost-1/transcript.jsonl"));
  await write("open-1");
  chmodSync(join(threads, "open-1/transcript.jsonl"), 0o644);
  chmodSync(join(threads, "open-1"), 0o755);
  mkdirSync(join(project, "elsewhere/linked-1"), { recursive: true });
  mkdirSync(join(threads, "links-1"), { mode: 0o700 });
  symlinkSync(join(project, "elsewhere"), join(threads, "links-1/transcript.jsonl"));
}
