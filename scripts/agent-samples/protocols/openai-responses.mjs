/** OpenAI's Responses API. */

import { DEFAULT_USAGE } from "../answers.mjs";

/**
 * @typedef {import("../answers.mjs").Message} Message
 */

const counts = { responses: 0, items: 0, calls: 0 };

/** @type {import("../provider.mjs").Protocol} */
export const openaiResponses = {
  takes: (path) => path.endsWith("/responses"),
  request: (body, path) => ({
    path,
    model: body.model,
    system: body.instructions ?? "",
    messages: messagesOf(Array.isArray(body.input) ? body.input : []),
    tools: (body.tools ?? []).map((/** @type {any} */ { name, type }) => name ?? type),
    isStream: body.stream === true,
    body,
  }),
  reply(answer) {
    const { usage = DEFAULT_USAGE } = answer;
    const input = usage.input + (usage.cacheRead ?? 0);
    const output = itemsOf(answer);
    const totals = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.thinking ?? 0 },
      total_tokens: input + usage.output,
    };
    const id = numbered("resp_sample", ++counts.responses);
    return {
      isNamed: true,
      events: [
        { type: "response.created", response: { id } },
        ...output.map((item, at) => ({
          type: "response.output_item.done",
          output_index: at,
          item,
        })),
        { type: "response.completed", response: { id, usage: totals, output } },
      ],
    };
  },
  failure: (status) => ({
    error: { code: String(status), message: "The fake provider refuses this request." },
  }),
};

/** @param {string} prefix @param {number} number */
function numbered(prefix, number) {
  return `${prefix}${String(number).padStart(6, "0")}`;
}

/**
 * An answer of the model is several items: its thinking, its text and each of its calls.
 *
 * @param {readonly any[]} items
 * @returns {Message[]}
 */
function messagesOf(items) {
  /** @type {Message[]} */
  const messages = [];
  for (const item of items) {
    const message = neutralMessage(item);
    const last = messages.at(-1);
    if (message.role === "assistant" && last?.role === "assistant") last.text += message.text;
    else messages.push(message);
  }
  return messages;
}

/** @param {any} item @returns {Message} */
function neutralMessage({ type = "message", role, content }) {
  if (type.endsWith("_output")) return { role: "tool", text: "" };
  const blocks = Array.isArray(content) ? content : [];
  const text = blocks.map((block) => block.text ?? "").join("\n");
  const isAnswer = role === "assistant" || type === "reasoning" || type.endsWith("_call");
  return { role: isAnswer ? "assistant" : "user", text };
}

/** @param {import("../answers.mjs").Answer} answer */
function itemsOf({ thinking, text, calls = [] }) {
  const reasoning = {
    type: "reasoning",
    id: numbered("rs_sample", counts.items),
    summary: [{ type: "summary_text", text: thinking }],
    encrypted_content: "c2FtcGxl",
  };
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", role: "assistant", content };
  return [
    ...(thinking ? [reasoning] : []),
    ...(text ? [{ ...message, id: numbered("msg_sample", ++counts.items) }] : []),
    ...calls.map(callItem),
  ];
}

/** @param {import("../answers.mjs").Call} call */
function callItem({ name, input, namespace }) {
  const call_id = numbered("call_sample", ++counts.calls);
  if (typeof input === "string") return { type: "custom_tool_call", name, input, call_id };
  const named = namespace === undefined ? { name } : { name, namespace };
  return { type: "function_call", ...named, arguments: JSON.stringify(input), call_id };
}
