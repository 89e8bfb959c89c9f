/** In which blocks images are found, and how unsupported ones are handled. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { piped } from "../../test/resume/judged.ts";
import { call, entriesOf, result, text } from "../../test/resume/said.ts";
import { blockPart } from "../dialects/shared/entry-parts.ts";
import { imageOf } from "./image.ts";

const BASE64 = "AAAA";
const DATA_URL = `data:image/png;base64,${BASE64}`;
const SENT = { type: "image", source: { type: "base64", media_type: "image/png", data: BASE64 } };

/** Image blocks of all frameworks. */
const IMAGES: readonly object[] = [
  SENT, // Anthropic
  { type: "image_url", image_url: { url: DATA_URL } }, // OpenAI chat
  { type: "input_image", image_url: DATA_URL }, // OpenAI responses
  { type: "input_image", image: DATA_URL }, // OpenAI Agents SDK
  { type: "image", image: { data: BASE64, mediaType: "image/png" } },
  { type: "image", image: { url: DATA_URL } },
  { type: "image", image: DATA_URL },
  { type: "computer_screenshot", data: DATA_URL },
  { type: "file", mediaType: "image/png", url: DATA_URL }, // AI SDK
  { type: "image", image: BASE64, mediaType: "image/png" },
  { type: "image", data: BASE64, mimeType: "image/png" }, // MCP
  { type: "image", file: { base64: BASE64, type: "image/png", originalSize: 3 } }, // Claude Code
];

const NOT_TAKEN: readonly object[] = [
  { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: BASE64 } },
  { type: "image", source: { type: "file", file_id: "f1" } },
  { type: "image", image: { data: BASE64 } },
  { type: "image", image: { fileId: "f1" } },
  { type: "input_image", image: { id: "f1" } },
  { type: "input_image", image: "http://example.org/a.png" },
  { type: "image", file: { base64: BASE64, type: "image/bmp" } },
  { type: "file", mediaType: "image/svg+xml", url: `data:image/svg+xml;base64,${BASE64}` },
];

const FILES: readonly object[] = [
  {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: BASE64 },
  },
  { type: "file", mediaType: "application/pdf", url: `data:application/pdf;base64,${BASE64}` },
  { type: "file", file: { data: BASE64, mediaType: "application/pdf", filename: "a.pdf" } },
  { type: "input_file", file: `data:application/pdf;base64,${BASE64}` },
  { type: "audio", data: BASE64, mimeType: "audio/wav" },
  { type: "pdf", file: { filePath: "a.pdf", base64: BASE64, originalSize: 3 } },
];

/** Values of tools that look like files, but are not attached files. */
const VALUES: readonly object[] = [
  { type: "image", name: "a.png" },
  { type: "image", image: "a.png" },
  { type: "image", image: { type: "external", external: { url: "https://example.org/a.png" } } },
  { type: "image", source: { title: "a" } },
  { type: "file", path: "a.txt" },
  { type: "pdf", file: { filePath: "a.pdf" } },
  { type: "image", file: { filePath: "a.png" } },
  { type: "file", mediaType: "image/png", path: "a.png" },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
];

function heard(block: object) {
  const entries = entriesOf(["user", ["see", blockPart(block)]]);
  const { messages, actions } = piped("anthropic", entries, null);
  return { content: messages[0]?.content.slice(1), done: actions.map(({ why }) => why) };
}

function gaveBack(output: unknown) {
  const entries = entriesOf(
    ["user", ["go"]],
    ["assistant", [call("a")]],
    ["tool", [result("a", output)]],
  );
  const { messages, actions } = piped("anthropic", entries, null);
  const [block] = messages[2]?.content ?? [];
  const content = block?.type === "tool_result" ? (block.content ?? []) : null;
  return { content, done: actions.map(({ why, callId }) => `${why} ${callId}`) };
}

test("an image is restored from the blocks of every framework, from a user or from a tool", () => {
  for (const block of IMAGES) {
    assert.deepEqual(heard(block), { content: [SENT], done: [] }, JSON.stringify(block));
    const back = { content: [SENT], done: [] };
    assert.deepEqual(gaveBack(block), back, JSON.stringify(block));
    assert.deepEqual(gaveBack([block, text("so")]), { ...back, content: [SENT, text("so")] });
  }
});

test("an image or a file that is not accepted is left out and reported, and never sent as text", () => {
  for (const [blocks, why] of [
    [NOT_TAKEN, "image_not_taken"],
    [FILES, "block_not_taken"],
  ] as const) {
    for (const block of blocks) {
      assert.deepEqual(heard(block), { content: [], done: [why] }, JSON.stringify(block));
      const done = [`${why} a`];
      assert.deepEqual(gaveBack(block), { content: [], done }, JSON.stringify(block));
      assert.deepEqual(gaveBack([text("so"), block]), { content: [text("so")], done });
    }
  }
});

test("a tool's own description of images and files stays text", () => {
  for (const value of VALUES) {
    const told = { content: [text(JSON.stringify(value))], done: [] };
    assert.deepEqual(gaveBack(value), told);
    const { content } = gaveBack([text("so"), value]);
    assert.deepEqual(content, [text("so"), ...told.content]);
  }
});

test("an image of 12 MB is taken, and base64 that ends wrongly is not", () => {
  const taken = (data: string) => imageOf({ type: "image", mediaType: "image/png", data });
  const large = "A".repeat(12 * 2 ** 20);
  assert.deepEqual(taken(large), { kind: "data", mediaType: "image/png", base64: large });
  for (const data of ["AA==", "AAA="]) assert.notEqual(taken(data), null, data);
  for (const data of ["A===", "====", "AA=A", "AAA", "AA A", "AAAA="]) {
    assert.equal(taken(data), null, data);
  }
});
