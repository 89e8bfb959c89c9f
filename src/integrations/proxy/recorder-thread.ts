/**
 * Recorder thread: a call recorder next to the thread that passes bytes on, since decoding, hashing
 * and signing a large request take longer than a caller may wait. Sources that were not compiled, and
 * a bundle, have no worker: they record on the thread of the caller.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { CallMessage, CallSink } from "../wire/call.ts";
import { openRecorder, type RecorderChoices } from "./open-recorder.ts";

export interface RecorderThread {
  readonly sink: CallSink;
  /** Resolves when all calls are recorded and their sessions are closed. */
  close(): Promise<void>;
}

/** From the worker: the message of an order is recorded, or recording failed. */
export type WorkerReply = { readonly recorded: number } | { readonly problem: string };
/** To the worker; without a message: close. */
export interface WorkerOrder {
  readonly order: number;
  readonly message: CallMessage | null;
}

/** In constants: a bundler would copy this file alone. */
const HERE = import.meta.url;
const WORKER_NAME = "./call-worker.js";

/** `onProblem`: recording failed, in words; it may be called for each message. */
export async function startRecorder(
  choices: RecorderChoices,
  onProblem: (problem: string) => void,
): Promise<RecorderThread> {
  const path = URL.canParse(WORKER_NAME, HERE) ? fileURLToPath(new URL(WORKER_NAME, HERE)) : "";
  if (existsSync(path))
    return new WorkerThread(new Worker(path, { workerData: choices }), onProblem);
  const recorder = await openRecorder(choices, onProblem);
  return { sink: (message) => recorder.take(message), close: () => recorder.close() };
}

class WorkerThread implements RecorderThread {
  readonly #worker: Worker;
  readonly #open = new Map<number, () => void>();
  readonly #ended: Promise<void>;
  #orders = 0;
  #hasEnded = false;

  constructor(worker: Worker, onProblem: (problem: string) => void) {
    this.#worker = worker;
    worker.on("message", (reply: WorkerReply) => {
      if ("problem" in reply) onProblem(reply.problem);
      else if ("recorded" in reply) this.#settle(reply.recorded);
    });
    worker.on("error", (cause) =>
      onProblem(cause instanceof Error ? cause.message : String(cause)),
    );
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        this.#hasEnded = true;
        for (const order of this.#open.keys()) this.#settle(order);
        resolve();
      });
    });
  }

  readonly sink: CallSink = (message) => {
    if (this.#hasEnded) return Promise.resolve();
    const order = ++this.#orders;
    const { body } = message;
    return new Promise((resolve) => {
      this.#open.set(order, resolve);
      const sent: WorkerOrder = { order, message };
      this.#worker.postMessage(sent, body === null ? [] : [body.buffer as ArrayBuffer]);
    });
  };

  async close(): Promise<void> {
    const sent: WorkerOrder = { order: 0, message: null };
    if (!this.#hasEnded) this.#worker.postMessage(sent);
    await this.#ended;
  }

  #settle(order: number): void {
    this.#open.get(order)?.();
    this.#open.delete(order);
  }
}
