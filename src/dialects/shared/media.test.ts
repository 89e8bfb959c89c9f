/** Images and files in the lines of each dialect, in the shapes that its program writes. */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { MediaPart } from "../../core/model/entry.ts";
import { mediaPartIn } from "../../core/model/media.ts";
import { dialectNamed, loadDialects } from "../all.ts";
import type { DialectName } from "../registry.ts";

const PNG = "iVBORw0KGgo=";
const DATA_URL = `data:image/png;base64,${PNG}`;
const IMAGE: MediaPart = { type: "image", mediaType: "image/png", data: PNG };
const SOURCE = { type: "base64", media_type: "image/png", data: PNG };
const PDF: MediaPart = { type: "file", mediaType: "application/pdf", data: "JVBERg==" };
const PDF_SOURCE = { type: "base64", media_type: "application/pdf", data: "JVBERg==" };
const AT = "2026-11-16T10:00:00.000Z";
const claude = (block: object) => ({ type: "user", message: { role: "user", content: [block] } });
const sdk = (line: object) => ({ id: "l1", at: AT, ...line });
const item = (block: object) => {
  return sdk({ type: "item", item: { type: "message", role: "user", content: [block] } });
};
const chat = (part: object) => {
  return sdk({ type: "message", message: { id: "u1", role: "user", parts: [part] } });
};
const codex = (payload: object) => ({ timestamp: AT, type: "response_item", payload });
const copilot = (attachment: object) => {
  return { type: "user.message", id: "1", timestamp: AT, data: { attachments: [attachment] } };
};

const LINES: readonly [DialectName, object, MediaPart][] = [
  ["claude-code", claude({ type: "image", source: SOURCE }), IMAGE],
  [
    "claude-code",
    claude({ type: "document", source: PDF_SOURCE, title: "p" }),
    { ...PDF, name: "p" },
  ],
  [
    "codex",
    codex({
      type: "message",
      role: "user",
      content: [{ type: "input_image", image_url: DATA_URL }],
    }),
    IMAGE,
  ],
  [
    "copilot-cli",
    copilot({ type: "file", path: "/p/a.ts", displayName: "a.ts" }),
    { type: "file", mediaType: null, name: "a.ts", path: "/p/a.ts" },
  ],
  [
    "copilot-cli",
    copilot({ type: "blob", data: PNG, mimeType: "image/png", displayName: "a.png" }),
    { ...IMAGE, name: "a.png" },
  ],
  [
    "qwen",
    { type: "user", message: { parts: [{ inlineData: { mimeType: "image/png", data: PNG } }] } },
    IMAGE,
  ],
  [
    "pi",
    {
      type: "message",
      message: { role: "user", content: [{ type: "image", data: PNG, mimeType: "image/png" }] },
    },
    IMAGE,
  ],
  ["grok", { type: "user", content: [{ type: "image_url", image_url: { url: DATA_URL } }] }, IMAGE],
  ["sdk", item({ type: "input_image", image: DATA_URL }), IMAGE],
  ["sdk", item({ type: "input_file", file: "data:application/pdf;base64,JVBERg==" }), PDF],
  [
    "sdk",
    chat({ type: "file", mediaType: "image/webp", url: "https://example.org/a.webp" }),
    { type: "image", mediaType: "image/webp", url: "https://example.org/a.webp" },
  ],
  ["streams", { role: "user", content: [{ type: "image", source: SOURCE }] }, IMAGE],
];

test.each(LINES)(
  "a line of %s with an image or a file has it as a part: %j",
  async (name, line, part) => {
    await loadDialects([name]);
    const { entry } = dialectNamed(name).reading.decode(line);
    assert.deepEqual(entry?.parts, [part]);
  },
);

test("a part is read from what its writer put into a line, and from nothing else", () => {
  const parts: readonly MediaPart[] = [
    { ...IMAGE, name: "a.png" },
    { type: "file", mediaType: null, path: "/p/a.ts" },
  ];
  for (const part of parts) assert.deepEqual(mediaPartIn({ ...part }), part);
  for (const other of [
    { ...IMAGE, type: "text" },
    { ...IMAGE, mediaType: 1 },
    { type: "file", path: "/p/a.ts" },
    { type: "image", mediaType: "image/png", name: "a.png" },
    [IMAGE],
    null,
  ]) {
    assert.equal(mediaPartIn(other), null, JSON.stringify(other));
  }
});
