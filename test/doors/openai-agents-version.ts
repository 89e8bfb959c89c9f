/** What the OpenAI Agents SDK's entry point does with any version of it: one test file for each. */

import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** The part of the SDK that is the same in all versions. */
interface Sdk {
  readonly Agent: unknown;
  readonly Runner: unknown;
  readonly Usage: unknown;
}

type New = new (...given: unknown[]) => Record<string, (...given: unknown[]) => Promise<unknown>>;

/** A second run of an agent sees the first one's messages, from a reopened session. */
export async function runsWith(sdk: Sdk): Promise<void> {
  const [Agent, Runner, Usage] = [sdk.Agent as New, sdk.Runner as New, sdk.Usage as New];
  const asked: unknown[] = [];
  const content = [{ type: "output_text", text: "Warm." }];
  const output = [{ type: "message", role: "assistant", status: "completed", content }];
  const model = {
    async getResponse({ input }: { input: unknown }) {
      asked.push(structuredClone(input));
      return { usage: new Usage(), output };
    },
  };
  const modelProvider = { getModel: async () => model };
  const agent = new Agent({ name: "cook", model });
  const root = tempDirectory();
  for (const question of ["Is it warm?", "Sure?"]) {
    const session = new VerbatimSession({ root, sessionId: "s", durability: "os" });
    onTestFinished(() => session.close());
    await new Runner({ tracingDisabled: true, modelProvider }).run?.(agent, question, { session });
  }
  const said = (asked[1] as { role: string; content: unknown }[]).map(({ role }) => role);
  assert.deepEqual(said, ["user", "assistant", "user"]);
  const reopened = new VerbatimSession({ root, sessionId: "s", durability: "os" });
  onTestFinished(() => reopened.close());
  assert.equal((await reopened.getItems()).length, 4);
}
