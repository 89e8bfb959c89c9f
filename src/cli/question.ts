/**
 * Question: asks a person before something that cannot simply be taken back.
 *
 * Q1  Only a person at a terminal can be asked. A script says `--yes`, or it is wrong usage: what is
 *     piped in was never meant as an answer.
 * Q2  Anything but "y" or "yes" is no, the end of input too.
 */

import { type CommandOption, type Io, type Run, UsageError } from "../command/command.ts";

export const YES_OPTION: CommandOption = {
  flags: "--yes",
  summary: "do not ask for confirmation; for scripts",
};

/** The exit code of a command whose question was answered with no. */
export const EXIT_DECLINED = 1;

/** No answer is longer than a line, and a terminal's line is at most 4,095 bytes. */
const ANSWER_BYTES_MAX = 4096;

/** Whether the person agrees, or `--yes` did; refuses where nobody can be asked (Q1). */
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

/** One line of the terminal, which is left in its own mode: Ctrl-C ends us as it always does. */
async function readAnswer(io: Io): Promise<string> {
  let answer = Buffer.alloc(0);
  for await (const chunk of io.input as AsyncIterable<Buffer>) {
    answer = Buffer.concat([answer, chunk]);
    if (answer.includes("\n") || answer.length > ANSWER_BYTES_MAX) break;
  }
  return answer.toString("utf8").split("\n")[0] ?? "";
}
