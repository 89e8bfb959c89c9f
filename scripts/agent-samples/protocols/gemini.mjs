/** Google's Gemini API. */

import { DEFAULT_USAGE, sampleId } from "../answers.mjs";

let answers = 0;

/** @type {import("../provider.mjs").Protocol} */
export const gemini = {
  takes: (path) => path.includes(":streamGenerateContent") || path.includes(":generateContent"),
  request: (body, path) => ({
    path,
    model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
    system: textOf(body.systemInstruction?.parts),
    messages: (body.contents ?? []).map(neutralMessage),
    tools: (body.tools ?? []).flatMap((/** @type {any} */ { functionDeclarations = [] }) =>
      functionDeclarations.map((/** @type {{ name: string }} */ { name }) => name),
    ),
    isStream: path.includes(":stream"),
    body,
  }),
  reply(answer, { isStream }) {
    const { text, thinking, calls = [], usage = DEFAULT_USAGE } = answer;
    const parts = [
      ...(thinking ? [{ text: thinking, thought: true }] : []),
      ...(text ? [{ text }] : []),
      ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ];
    const prompt = usage.input + (usage.cacheRead ?? 0);
    const usageMetadata = {
      promptTokenCount: prompt,
      cachedContentTokenCount: usage.cacheRead ?? 0,
      candidatesTokenCount: usage.output - (usage.thinking ?? 0),
      thoughtsTokenCount: usage.thinking ?? 0,
      totalTokenCount: prompt + usage.output,
    };
    const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }];
    const json = { candidates, usageMetadata, responseId: sampleId("", 22, ++answers) };
    return isStream ? { events: [json] } : { json };
  },
  failure: (status) => ({
    error: { code: status, message: "The fake provider refuses this request." },
  }),
};

/** @param {any} parts @returns {string} */
function textOf(parts) {
  if (!Array.isArray(parts)) return "";
  return parts.flatMap(({ text }) => (text ? [text] : [])).join("\n");
}

/** @param {any} content @returns {import("../answers.mjs").Message} */
function neutralMessage({ role, parts }) {
  const text = textOf(parts);
  if (role === "model") return { role: "assistant", text };
  return { role: text === "" ? "tool" : "user", text };
}
