/**
 * Process io: the terminal, pipes and signals of this process, as an `Io` for commands.
 *
 * Nothing printed to stderr can control a terminal: file names, ids and arguments are escaped,
 * whatever their source.
 */

import { once } from "node:events";
import { fstatSync } from "node:fs";
import { safeText } from "../sessions/render/text.ts";
import { type Io, OutputClosed, UsageError } from "./command/command.ts";

const COLUMNS_DEFAULT = 80;

export interface ProcessIo extends Io {
  /** Resolves when all output is written; throws the operating system's error. */
  finish(): Promise<void>;
}

export function processIo(): ProcessIo {
  const { stdout, stderr } = process;
  let isClosed = false;
  let goesOnUnread = false;
  let failure: Error | null = null;
  let hasProgress = false;
  // Handled here, not where it was printed: some streams report errors later. `print` and `finish`
  // rethrow it.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") isClosed = true;
    else failure ??= error;
  });
  const refuseWhenDone = () => {
    if (failure) throw failure;
    if (isClosed && !goesOnUnread) throw new OutputClosed();
  };

  return {
    out(line) {
      if (!isClosed && !failure) stdout.write(`${line}\n`);
    },
    async print(text) {
      refuseWhenDone();
      if (isClosed || stdout.write(text)) return;
      // Whichever comes first: drained, or an error because the reader is gone.
      await once(stdout, "drain").catch(() => {});
      refuseWhenDone();
    },
    goOnUnread() {
      goesOnUnread = true;
    },
    async finish() {
      await new Promise<void>((resolve) => stdout.write("", () => resolve()));
      if (failure) throw failure;
    },
    err: (text) => void stderr.write(`${safeText(text)}\n`),
    progress(text) {
      if (!stderr.isTTY || (text === null && !hasProgress)) return;
      stderr.write(`\r\u001b[K${safeText(text ?? "")}`);
      hasProgress = text !== null;
    },
    isTerminal: stdout.isTTY === true,
    hasColour: stdout.isTTY === true && !process.env.NO_COLOR,
    columns: stdout.columns || COLUMNS_DEFAULT,
    rows: stdout.rows || null,
    get input() {
      // Node reads a directory as an empty input.
      if (fstatSync(0).isDirectory()) {
        throw new UsageError("stdin is a directory; give a file or a pipe");
      }
      return process.stdin; // Created on demand: creating it may touch the terminal.
    },
    interruption,
  };
}

/** A second signal has no handler, and ends the process. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const stop = () => {
    for (const signal of signals) process.off(signal, stop);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  return controller.signal;
}
