/**
 * Recorder thread: a call recorder next to the thread that passes bytes on, since decoding, hashing
 * and signing a large request take longer than a caller may wait. Sources that were not compiled, and
 * a bundle, have no worker: they record on the thread of the caller.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { CallSink } from "../wire/call.ts";
import { messageOf, openRecorder, type RecorderChoices } from "./open-recorder.ts";

export interface RecorderThread {
  readonly sink: CallSink;
  /** Resolves when all calls are recorded and their sessions are closed. */
  close(): Promise<void>;
}

/** From the worker: the next message is recorded, or recording failed, in words. */
export type WorkerReply = "recorded" | { readonly problem: string };

/** In constants: a bundler would copy this file alone. */
const HERE = import.meta.url;
const WORKER_NAME = "./call-worker.js";

/** `onProblem`: recording failed, in words; it may be called for each message. */
export async function startRecorder(
  choices: RecorderChoices,
  onProblem: (problem: string) => void,
): Promise<RecorderThread> {
  const path = URL.canParse(WORKER_NAME, HERE) ? fileURLToPath(new URL(WORKER_NAME, HERE)) : "";
  if (existsSync(path)) return workerThread(new Worker(path, { workerData: choices }), onProblem);
  const recorder = await openRecorder(choices, onProblem);
  return { sink: (message) => recorder.take(message), close: () => recorder.close() };
}

function workerThread(worker: Worker, onProblem: (problem: string) => void): RecorderThread {
  /** The worker takes messages in their order. */
  const waiting: (() => void)[] = [];
  let hasEnded = false;
  worker.on("message", (reply: WorkerReply) => {
    if (reply === "recorded") waiting.shift()?.();
    else onProblem(reply.problem);
  });
  worker.on("error", (cause) => onProblem(messageOf(cause)));
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      hasEnded = true;
      for (const settle of waiting.splice(0)) settle();
      resolve();
    });
  });
  return {
    async sink(message) {
      if (hasEnded) return;
      const { body } = message;
      worker.postMessage(message, body === null ? [] : [body.buffer as ArrayBuffer]);
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close() {
      if (!hasEnded) worker.postMessage(null);
      await ended;
    },
  };
}
