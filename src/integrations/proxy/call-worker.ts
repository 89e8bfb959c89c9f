/** Call worker: the thread of recorder-thread.ts that records. */

import { parentPort, workerData } from "node:worker_threads";
import { openRecorder, type RecorderChoices } from "./open-recorder.ts";
import type { WorkerOrder, WorkerReply } from "./recorder-thread.ts";

const reply = (message: WorkerReply) => parentPort?.postMessage(message);
const opening = openRecorder(workerData as RecorderChoices, (problem) => reply({ problem }));

parentPort?.on("message", async ({ order, message }: WorkerOrder) => {
  const recorder = await opening;
  if (message === null) {
    await recorder.close();
    parentPort?.close();
  } else {
    await recorder.take(message);
    reply({ recorded: order });
  }
});
