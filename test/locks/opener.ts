/**
 * A program that opens a log to append, and prints "opened" or the refusal; then it reads the log. It
 * prints the descriptors that opening left.
 */

import { openLog, readLog } from "../../src/doors/log.ts";
import { openDescriptorsBelow } from "../support/open-descriptors.ts";

const [log = ""] = process.argv.slice(2);

open().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function open(): Promise<void> {
  try {
    const writer = await openLog(log);
    console.log("opened");
    await writer.close();
    for (const path of openDescriptorsBelow("/")) {
      if (/verbatim-lock|jsonl/.test(path)) console.log(`left open: ${path}`);
    }
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    console.log(code);
    if (code !== "LOCK_UNAVAILABLE") return;
    console.log(message);
    const reader = readLog(log);
    let lines = 0;
    for await (const _ of reader) lines++;
    console.log(`read ${lines} line, ${reader.report.unfinishedBytes} unfinished bytes`);
  }
}
