/** Call worker: the thread of recorder-thread.ts that records, one message after the other. */

import { parentPort, workerData } from "node:worker_threads";
import type { CallMessage } from "../wire/call.ts";
import { openRecorder, type RecorderChoices } from "./open-recorder.ts";
import type { WorkerReply } from "./recorder-thread.ts";

const reply = (message: WorkerReply) => parentPort?.postMessage(message);
const opening = openRecorder(workerData as RecorderChoices, (problem) => reply({ problem }));

parentPort?.on("message", async (message: CallMessage | null) => {
  const recorder = await opening;
  if (message === null) {
    await recorder.close();
    parentPort?.close();
  } else {
    await recorder.take(message);
    reply("recorded");
  }
});
