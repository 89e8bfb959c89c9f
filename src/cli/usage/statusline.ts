/** Status line: one line for Claude Code's status line, from kept figures. */

import type { Io } from "../../command/command.ts";

export async function printStatusLine(io: Io): Promise<number> {
  io.out("");
  return 0;
}
