/**
 * Judged: entries put through the pipeline for every target, and everything that must hold for
 * each.
 */

import assert from "node:assert/strict";
import { type AssembledRequest, Assembly } from "../../src/resume/assembly.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { Pipeline } from "../../src/resume/pipeline.ts";
import type { TargetName } from "../../src/resume/repair-report.ts";
import type { TargetMessages } from "../../src/resume/resume.ts";
import { aiSdk } from "../../src/resume/targets/ai-sdk.ts";
import { anthropic } from "../../src/resume/targets/anthropic.ts";
import { openaiChat, openaiResponses } from "../../src/resume/targets/openai.ts";
import type { MessageTarget } from "../../src/resume/targets/target.ts";
import { aiSdkFaults } from "./validators/ai-sdk.ts";
import { anthropicFaults } from "./validators/anthropic.ts";
import { openaiChatFaults } from "./validators/openai-chat.ts";
import { openaiResponsesFaults } from "./validators/openai-responses.ts";

export const TARGETS: {
  readonly [Name in TargetName]: {
    readonly target: MessageTarget<TargetMessages[Name]>;
    readonly faults: (messages: readonly TargetMessages[Name][]) => string[];
  };
} = {
  anthropic: { target: anthropic, faults: anthropicFaults },
  "openai-chat": { target: openaiChat, faults: openaiChatFaults },
  "openai-responses": { target: openaiResponses, faults: openaiResponsesFaults },
  "ai-sdk": { target: aiSdk, faults: aiSdkFaults },
};

/** What is resumed of the entries for a target. */
export function piped<Name extends TargetName>(
  name: Name,
  entries: readonly GatheredEntry[],
  prompt?: string | null,
): AssembledRequest<TargetMessages[Name]> {
  const pipeline = new Pipeline();
  for (const entry of entries) pipeline.add(entry);
  return pipeline.finish<TargetMessages[Name]>(new Assembly(TARGETS[name].target), prompt);
}

/** For every target: the request is valid, every entry is accounted for, nothing varies. */
export function judgeAll(entries: readonly GatheredEntry[], where: string): void {
  const saidIn = () => JSON.stringify(entries.map(({ parts }) => parts));
  const before = saidIn();
  for (const name of Object.keys(TARGETS) as TargetName[]) judge(name, entries, where);
  assert.equal(saidIn(), before, "the input is unchanged");
}

function judge<Name extends TargetName>(
  name: Name,
  entries: readonly GatheredEntry[],
  where: string,
): void {
  const first = piped(name, entries);
  const { messages, made, madeSystem, actions } = first;
  assert.deepEqual(TARGETS[name].faults(messages), [], `${where}, for ${name}`);
  assert.equal(made.length, messages.length);
  const lines = [madeSystem, ...made].flatMap((each) => each?.lines ?? []);
  const told = actions
    .filter(({ action }) => action === "left_out")
    .flatMap(({ line, lines = 1 }) => Array.from({ length: lines }, (_, at) => Number(line) + at));
  const accounted = new Set([...lines, ...told]);
  for (const { line } of entries) {
    // Not `assert.ok`: it would build a message for each.
    if (!accounted.has(line))
      assert.fail(`${where}, for ${name}: line ${line} is not accounted for`);
  }
  // The same input gives the same output.
  assert.equal(JSON.stringify(piped(name, entries)), JSON.stringify(first));
}
