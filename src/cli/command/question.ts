/**
 * Question: asks before an action that is hard to undo.
 *
 * Only a person at a terminal is asked. A script needs `--yes`; without it, that is a usage error:
 * piped input is never an answer. Anything but "y" or "yes" is no, including the end of input.
 */

import { type Io, type Run, UsageError } from "./command.ts";

/** Exit code if the answer was no. */
export const EXIT_DECLINED = 1;

/** An answer is one line, and a terminal's line is at most 4,095 bytes. */
const ANSWER_BYTES_MAX = 4096;

/** Whether the person agrees, or `--yes` was given; refuses without a terminal. */
export async function isAgreed({ options, io }: Run, question: string): Promise<boolean> {
  if (options.yes === true) return true;
  if (!io.input.isTTY) {
    throw new UsageError("this asks for confirmation, and there is no terminal; add --yes");
  }
  io.err(`${question} [y/N]`);
  const answer = await readAnswer(io);
  if (/^\s*y(es)?\s*$/i.test(answer)) return true;
  io.err("nothing was changed");
  return false;
}

/** One line of the terminal, whose mode is unchanged: Ctrl-C works as usual. */
async function readAnswer(io: Io): Promise<string> {
  let answer = Buffer.alloc(0);
  for await (const chunk of io.input as AsyncIterable<Buffer>) {
    answer = Buffer.concat([answer, chunk]);
    if (answer.includes("\n") || answer.length > ANSWER_BYTES_MAX) break;
  }
  return answer.toString("utf8").split("\n")[0] ?? "";
}

/** Reads stdin to its end; more than `bytesMax` bytes is a usage error. */
export async function readPiped(io: Io, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of io.input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) throw new UsageError(`stdin holds more than ${bytesMax} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
