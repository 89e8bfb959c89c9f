/**
 * Process io: the terminal, pipes and signals of this process, as commands see them.
 *
 * PI1  Nothing that goes to stderr can act on a terminal: file names, ids and arguments are shown
 *      escaped, whoever made them up.
 */

import { once } from "node:events";
import { fstatSync } from "node:fs";
import { type Io, OutputClosed, UsageError } from "../command/command.ts";
import { safeText } from "../render/safe-text.ts";

const COLUMNS_DEFAULT = 80;

export interface ProcessIo extends Io {
  /** Resolves when what was printed is out; throws what the operating system had against it. */
  finish(): Promise<void>;
}

export function processIo(): ProcessIo {
  const { stdout, stderr } = process;
  let isClosed = false;
  let goesOnUnread = false;
  let failure: Error | null = null;
  let hasProgress = false;
  // Here, not where it was printed: some streams tell of it later. `print` and `finish` pass it on.
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
      // Whichever comes first: room, or the news that nobody reads.
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
    get input() {
      // Node takes a directory for an input that is empty.
      if (fstatSync(0).isDirectory()) {
        throw new UsageError("stdin is a directory; give a file or a pipe");
      }
      return process.stdin; // Not before it is asked for: making it may touch the terminal.
    },
    interruption,
  };
}

/** A second signal finds no handler, and ends the process as it would any other. */
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
