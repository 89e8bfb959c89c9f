/** Many threads: a project of ten thousand small threads that ended an hour ago. */

import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the paths of the threads' thread.json. */
export function makeThreads(root: string, count: number): string[] {
  const endedAt = new Date(Date.now() - 3_600_000);
  const createdAt = endedAt.toISOString();
  return Array.from({ length: count }, (_, n) => {
    const id = `directive_${n % 17}-${1_760_000_000 + n}`;
    const directory = join(root, ".ai", "threads", id);
    mkdirSync(directory, { recursive: true });
    const envelope = { ts: createdAt, thread_id: id, directive: `directive_${n % 17}` };
    const cost = { turns: 3, tokens: 3778, input_tokens: 3520, output_tokens: 258, spend: 0.0038 };
    const events = [
      { ...envelope, type: "thread_start", model: `model-${n % 5}`, inputs: {} },
      { ...envelope, type: "user_message", role: "user", text: `Please do number ${n}` },
      { ...envelope, type: "assistant_text", text: "Done." },
      { ...envelope, type: "thread_complete", cost },
    ];
    const log = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    const logPath = join(directory, "transcript.jsonl");
    writeFileSync(logPath, log);
    utimesSync(logPath, endedAt, endedAt);
    const meta = {
      thread_id: id,
      directive: `directive_${n % 17}`,
      model: `model-${n % 5}`,
      provider: "p",
      status: "completed",
      thread_mode: "single",
      parent_thread_id: null,
      created_at: createdAt,
      updated_at: createdAt,
      cost,
    };
    const path = join(directory, "thread.json");
    writeFileSync(path, JSON.stringify(meta, null, 2));
    return path;
  });
}
