/** `structuredContent` of MCP tools, from the rows that are recorded to the request that resumes them. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { asLines, CliUser } from "../cli/cli.ts";

const PROVIDERS = ["anthropic", "openai-chat", "openai-responses", "ai-sdk"];
const SEEN = { type: "text", text: "It is warm." };

/** Where Claude Code puts it: on the block, or on the row in two places. */
const PLACES = [
  (structuredContent: object) => [{ structuredContent }, {}],
  (structuredContent: object) => [{}, { toolUseResult: { content: [SEEN], structuredContent } }],
  (structuredContent: object) => [{}, { mcpMeta: { structuredContent } }],
] as const;

const structuredOf = (call: number) => ({ call, temperature: 21, rooms: ["kitchen"] });

/** A question, a call for each place with its result, and an answer. */
function rows(): object[] {
  const said: object[] = [];
  const add = (type: string, content: unknown, more: object = {}) => {
    const [uuid, parentUuid] = [`u${said.length}`, said.length ? `u${said.length - 1}` : null];
    const model = type === "user" ? {} : { model: "claude-opus-5" };
    const message = { role: type, content, ...model };
    said.push({ type, uuid, parentUuid, sessionId: "s1", message, ...more });
  };
  add("user", "Is it warm?");
  for (const [n, place] of PLACES.entries()) {
    const [onBlock, onRow] = place(structuredOf(n));
    const id = `toolu_${n}`;
    add("assistant", [{ type: "tool_use", id, name: "mcp__house__look", input: {} }]);
    add("user", [{ type: "tool_result", tool_use_id: id, content: [SEEN], ...onBlock }], onRow);
  }
  add("assistant", [{ type: "text", text: "Yes." }]);
  return said;
}

test("recorded structuredContent is in the request that resumes the session, for every provider", async () => {
  const ids = { claude: "p/s1", entire: "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890" };
  for (const [dialect, id] of Object.entries(ids)) {
    const user = new CliUser();
    const input = asLines(...rows());
    const { code, stderr } = await user.run(["record", "--dialect", dialect, "--session", id], {
      input,
    });
    assert.equal(code, 0, stderr);
    for (const provider of PROVIDERS) {
      const options = ["--for", provider, "--model", "m", "--allow-unsigned", "--json"];
      const { stdout } = await user.run(["resume", id, ...options]);
      const texts = textsOf(JSON.parse(stdout));
      const where = `${dialect}, ${provider}: ${stdout}`;
      for (const n of PLACES.keys()) {
        const json = JSON.stringify(structuredOf(n));
        assert.equal(texts.filter((text) => text.includes(json)).length, 1, where);
      }
      assert.ok(
        texts.some((text) => text.includes(SEEN.text)),
        where,
      );
    }
  }
});

/** Every text of a request. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
