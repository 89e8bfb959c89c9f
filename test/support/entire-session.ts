/**
 * A session's transcript for one test, ended when the test is over, and the files of its directory.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { SessionTranscript, type SessionTranscriptOptions } from "../../src/doors/entire.ts";
import { rowsAt } from "./entire-rows.ts";
import { tempDirectory } from "./temp-directory.ts";

export const CALL = {
  type: "tool_use",
  id: "toolu_01X",
  name: "read_file",
  input: { path: "src/main.rs" },
};
export const RESULT = { type: "tool_result", tool_use_id: "toolu_01X", content: "1: use std::io;" };
export const USAGE = {
  input_tokens: 1200,
  output_tokens: 350,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 800,
};

export async function openTranscript(options: Partial<SessionTranscriptOptions> = {}) {
  const cwd = options.cwd ?? tempDirectory();
  const transcript = await SessionTranscript.open({ cwd, model: "claude-opus-4-5", ...options });
  onTestFinished(() => transcript.end());
  const pathOf = (name: string) => join(dirname(transcript.path), name);
  const textOf = (name: string) => readFileSync(pathOf(name), "utf8");
  return { cwd, transcript, pathOf, textOf, rows: () => rowsAt(transcript.path) };
}
