/** OpenAI's Chat Completions API, which many providers speak. */

import { DEFAULT_USAGE, sampleId } from "../answers.mjs";

let answers = 0;
let calls = 0;

/** @type {import("../provider.mjs").Protocol} */
export const openaiChat = {
  takes: (path) => path.endsWith("/chat/completions"),
  request: (body, path) => ({
    path,
    model: body.model,
    system: (body.messages ?? [])
      .filter((/** @type {any} */ { role }) => role === "system" || role === "developer")
      .map((/** @type {any} */ { content }) => textOf(content))
      .join("\n"),
    messages: (body.messages ?? [])
      .filter((/** @type {any} */ { role }) => ["user", "assistant", "tool"].includes(role))
      .map((/** @type {any} */ { role, content }) => ({ role, text: textOf(content) })),
    tools: (body.tools ?? []).map((/** @type {any} */ tool) => tool.function?.name),
    isStream: body.stream === true,
    body,
  }),
  reply(answer, { model, isStream }) {
    const { text, thinking, calls: asked = [], usage = DEFAULT_USAGE } = answer;
    const prompt_tokens = usage.input + (usage.cacheRead ?? 0);
    const totals = {
      prompt_tokens,
      completion_tokens: usage.output,
      total_tokens: prompt_tokens + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage.thinking ?? 0 },
    };
    const tool_calls = asked.map(({ name, input }, index) => ({
      index,
      id: `call_sample${String(++calls).padStart(6, "0")}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = {
      role: "assistant",
      content: text ?? null,
      ...(thinking ? { reasoning_content: thinking } : {}),
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
    const common = { id: sampleId("chatcmpl-", 29, ++answers), created: 1_767_225_600, model };
    if (!isStream) {
      const choices = [{ index: 0, message, finish_reason }];
      return { json: { ...common, object: "chat.completion", choices, usage: totals } };
    }
    const chunk = { ...common, object: "chat.completion.chunk" };
    return {
      hasDone: true,
      events: [
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
        { ...chunk, choices: [], usage: totals },
      ],
    };
  },
  failure: (status) => ({
    error: { code: String(status), message: "The fake provider refuses this request." },
  }),
};

/** @param {unknown} content @returns {string} */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
