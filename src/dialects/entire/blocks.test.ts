import assert from "node:assert/strict";
import { test } from "vitest";
import { decode as decodeClaude } from "../hooks/lines.ts";
import { decode } from "./decode.ts";

const STRUCTURED = { temperature: 21, rooms: ["kitchen"] };
const SAID = { type: "text", text: JSON.stringify(STRUCTURED) };

/** The result in a row, in both dialects that read such rows. */
function outputOf(content: unknown, onBlock: object, onRow: object = {}): unknown {
  const block = { type: "tool_result", tool_use_id: "t", content, ...onBlock };
  const row = { type: "user", message: { role: "user", content: [block] }, ...onRow };
  const [ours, claudes] = [decode(row), decodeClaude(row)].map(({ entry }) => {
    const [part] = entry?.parts ?? [];
    return part?.type === "tool_result" ? part.output : assert.fail();
  });
  assert.deepEqual(ours, claudes);
  return ours;
}

test("structuredContent of an MCP tool is part of its result", () => {
  const seen = { type: "text", text: "It is warm." };
  const on = { structuredContent: STRUCTURED };
  assert.deepEqual(outputOf([seen], on), [seen, SAID]);
  assert.deepEqual(outputOf("It is warm.", on), [seen, SAID]);
  assert.deepEqual(outputOf([], on), [SAID]);
  assert.deepEqual(outputOf(undefined, {}, { toolUseResult: on }), [SAID]);
  assert.deepEqual(outputOf([seen], {}, { mcpMeta: on }), [seen, SAID]);
});

test("structuredContent that repeats the content is not added twice", () => {
  const on = { structuredContent: STRUCTURED };
  const pretty = { type: "text", text: JSON.stringify(STRUCTURED, null, 2) };
  assert.deepEqual(outputOf([pretty], on), [pretty]);
  assert.deepEqual(outputOf(SAID.text, {}, { toolUseResult: on }), SAID.text);
  assert.deepEqual(outputOf("plain", { structuredContent: null }), "plain");
});
