/**
 * Kill and recover: writes a log, kills its writer with -9 in the middle of an append, opens
 * the log again, and shows what survived.
 *
 *     node examples/kill-and-recover.mjs
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { encodeLine, openLog, readLog } from "verbatim-log/log";

const ROUNDS_MAX = 20;
const [, , role, path] = process.argv;

if (role === "write") await write(path);
else await killAndRecover(join(mkdtempSync(join(tmpdir(), "verbatim-")), "session.jsonl"));

/** The victim: reports each line once it is on the disk, and a long one before it is written. */
async function write(path) {
  const log = await openLog(path);
  for (let turn = 1; turn <= 5; turn++) {
    await log.append(encodeLine({ turn, role: "assistant", content: `answer ${turn}` }));
    writeSync(1, "acknowledged\n");
  }
  const long = encodeLine({ role: "tool", content: "x".repeat(15_000_000) });
  writeSync(1, "appending\n");
  await log.append(long);
  writeSync(1, "acknowledged\n");
}

async function killAndRecover(path) {
  let acknowledged = 0;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    acknowledged += await writeAndKill(path);

    const log = await openLog(path);
    const { cutBytes, cutKeptAt } = log.recovery;
    await log.close();
    let found = 0;
    for await (const _ of readLog(path)) found++;

    say(`round ${round}: ${acknowledged} lines acknowledged, ${found} found`);
    if (found < acknowledged) throw new Error("an acknowledged line is missing");
    if (cutBytes > 0) {
      say(`the kill tore an append: ${cutBytes} bytes of it are kept in`);
      say(`  ${cutKeptAt}`);
      say(`nothing acknowledged was lost; the log goes on at`);
      say(`  ${path}`);
      return;
    }
    say("the kill missed the write; once more");
  }
  say(`no kill landed inside a write in ${ROUNDS_MAX} rounds; run it again to see one`);
}

/**
 * Starts a writer, kills it as soon as the long line makes the file longer, which is usually in
 * the middle of its write; resolves to the acknowledged lines.
 */
async function writeAndKill(path) {
  const writer = spawn(process.execPath, [fileURLToPath(import.meta.url), "write", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(writer, "exit");
  let acknowledged = 0;
  for await (const word of createInterface({ input: writer.stdout })) {
    if (word === "acknowledged") acknowledged++;
    else killOnceLonger(writer, path, statSync(path).size);
  }
  await gone;
  return acknowledged;
}

function killOnceLonger(writer, path, bytes) {
  if (statSync(path).size > bytes) writer.kill("SIGKILL");
  else if (writer.exitCode === null) setImmediate(killOnceLonger, writer, path, bytes);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
