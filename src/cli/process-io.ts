/**
 * Process io: the terminal, pipes and signals of this process, as commands see them.
 *
 * PI1  Nothing that goes to stderr can act on a terminal: file names, ids and arguments are shown
 *      escaped, whoever made them up.
 */

import { once } from "node:events";
import { safeText } from "../render/safe-text.ts";
import { type Io, OutputClosed } from "./command.ts";

const COLUMNS_DEFAULT = 80;

export function processIo(): Io {
  const { stdout, stderr } = process;
  let isClosed = false;
  let hasProgress = false;
  // The only error that is not ours to report; `print` tells whoever goes on printing.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    isClosed = true;
  });

  return {
    out(line) {
      if (!isClosed) stdout.write(`${line}\n`);
    },
    async print(text) {
      if (isClosed) throw new OutputClosed();
      if (stdout.write(text)) return;
      // Whichever comes first: room, or the news that nobody reads.
      await once(stdout, "drain").catch(() => {});
      if (isClosed) throw new OutputClosed();
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
