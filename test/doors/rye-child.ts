/** Writes events to one thread, for the test with several processes. */

import { TranscriptWriter } from "../../src/doors/rye.ts";

const [, , transcriptDir = "", id = "", name = "", count = "0"] = process.argv;
const writer = new TranscriptWriter({ transcriptDir, defaultDirective: `child-${name}` });
for (let n = 0; n < Number(count); n++) {
  await writer.writeEvent(id, "assistant_text", { text: `${name}-${n} ${"x".repeat(n * 20)}` });
}
