/** Appends turns to one session, for the test with several processes. */

import { TranscriptWriter } from "../../src/doors/homeagent.ts";

const [, , base = "", name = "", count = "0"] = process.argv;
const writer = new TranscriptWriter(base);
for (let n = 0; n < Number(count); n++) {
  const content = "x".repeat((n * 37) % 5000);
  await writer.append("agent", "shared", { turnId: `${name}-${n}`, role: "user", content, ts: n });
}
// No close: a writer that is not closed keeps no process alive.
