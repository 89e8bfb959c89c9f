/** OpenAI's Responses API. */

import { DEFAULT_USAGE } from "../answers.mjs";

let calls = 0;

/** @type {import("../provider.mjs").Protocol} */
export const openaiResponses = {
  takes: (path) => path.endsWith("/responses"),
  request: (body, path) => ({
    path,
    model: body.model,
    system: body.instructions ?? "",
    messages: (Array.isArray(body.input) ? body.input : []).map(neutralMessage),
    tools: (body.tools ?? []).map((/** @type {any} */ { name, type }) => name ?? type),
    isStream: body.stream === true,
    body,
  }),
  reply(answer) {
    const { usage = DEFAULT_USAGE } = answer;
    const input = usage.input + (usage.cacheRead ?? 0);
    const items = itemsOf(answer);
    const totals = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.thinking ?? 0 },
      total_tokens: input + usage.output,
    };
    return {
      isNamed: true,
      events: [
        { type: "response.created", response: { id: "r_1" } },
        ...items.map((item, at) => ({
          type: "response.output_item.done",
          output_index: at,
          item,
        })),
        { type: "response.completed", response: { id: "r_1", usage: totals, output: items } },
      ],
    };
  },
  failure: (status) => ({
    error: { code: String(status), message: "The fake provider refuses this request." },
  }),
};

/** @param {any} item @returns {import("../answers.mjs").Message} */
function neutralMessage({ type, role, content }) {
  if (type === "function_call_output") return { role: "tool", text: "" };
  const blocks = Array.isArray(content) ? content : [];
  const text = blocks.map((block) => block.text ?? "").join("\n");
  // A call and a reasoning item belong to the answer of the message before or after them.
  return { role: role === "assistant" || type === "function_call" ? "assistant" : "user", text };
}

/** @param {import("../answers.mjs").Answer} answer */
function itemsOf({ text, calls: asked = [] }) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return [
    ...(text ? [{ type: "message", id: "m_1", role: "assistant", content }] : []),
    ...asked.map(({ name, input }) => {
      const call_id = `call_sample${String(++calls).padStart(6, "0")}`;
      return { type: "function_call", name, arguments: JSON.stringify(input), call_id };
    }),
  ];
}
