/**
 * Streams: named streams of messages in JSONL files, with pointers in SQLite.
 *
 *     node examples/streams.mjs [data directory]
 */

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeLine, openStreams, streamPathToFilename, typedLog } from "verbatim-log/streams";
import { z } from "zod";

const [, , data = mkdtempSync(join(tmpdir(), "verbatim-streams-"))] = process.argv;
const path = "/chat/session-1";

const engine = await openStreams({ root: data });
await engine.createStream(path);

// Each is on the disk when it resolves. Concurrent appends share one sync.
await Promise.all(
  ["hello", "is anybody there?"].map((content) =>
    engine.append(path, encodeLine({ role: "user", content })),
  ),
);
const seen = await engine.getCurrentOffset(path);

// Any validator that speaks Standard Schema: Zod, Valibot, ArkType …
const Turn = z.object({ role: z.enum(["user", "assistant"]), content: z.string() });
const turns = typedLog(engine, path, Turn, { validatesOnRead: true });
await turns.append({ role: "assistant", content: "Hi there!" });
try {
  await turns.append({ role: "king", content: "Off with it!" });
} catch (error) {
  print(`${error.code}: ${error.details.field}`);
}

for (const { role, content } of await turns.read()) print(`${role}: ${content}`);
const news = await engine.read(path, seen);
print(`${news.length} of ${await turns.count()} since ${seen}`);

// The file holds the appended lines; grep can read it.
print(readFileSync(join(data, "logs", streamPathToFilename(path)), "utf8").trimEnd());

await engine.deleteStream(path);
await engine.createStream(path);
try {
  await engine.read(path, seen);
} catch (error) {
  print(`${error.code}: made again, it is another stream`);
}
await engine.close();
print(`kept in ${data}`);

function print(text) {
  process.stdout.write(`${text}\n`);
}
