/** Anthropic's Messages API. */

import { DEFAULT_USAGE, sampleId } from "../answers.mjs";

/**
 * @typedef {import("../answers.mjs").Answer} Answer
 * @typedef {import("../answers.mjs").Message} Message
 */

let messages = 0;
let calls = 0;

/** @type {import("../provider.mjs").Protocol} */
export const anthropic = {
  takes: (path) => path.endsWith("/v1/messages"),
  request: (body, path) => ({
    path,
    model: body.model,
    system: textOf(body.system),
    messages: (body.messages ?? []).map(neutralMessage),
    tools: (body.tools ?? []).map((/** @type {{ name: string }} */ { name }) => name),
    isStream: body.stream === true,
    body,
  }),
  reply(answer, { model, isStream }) {
    const content = contentOf(answer);
    const message = {
      id: sampleId("msg_01", 22, ++messages),
      type: "message",
      role: "assistant",
      model,
      stop_sequence: null,
    };
    const stop_reason = answer.calls?.length ? "tool_use" : "end_turn";
    const usage = usageOf(answer);
    if (!isStream) return { json: { ...message, content, stop_reason, usage } };
    return {
      isNamed: true,
      events: [
        {
          type: "message_start",
          message: {
            ...message,
            content: [],
            stop_reason: null,
            usage: { ...usage, output_tokens: 1 },
          },
        },
        ...content.flatMap((block, index) => blockEvents(block, index)),
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
        { type: "message_stop" },
      ],
    };
  },
  failure: (status) => ({
    type: "error",
    error: {
      type: status === 529 ? "overloaded_error" : "invalid_request_error",
      message: "The fake provider refuses this request.",
    },
  }),
};

/** @param {unknown} content @returns {string} */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** @param {{ role: "user" | "assistant", content: any }} message @returns {Message} */
function neutralMessage({ role, content }) {
  const text = textOf(content);
  const isResult = Array.isArray(content) && content.some(({ type }) => type === "tool_result");
  return { role: role === "user" && isResult && text === "" ? "tool" : role, text };
}

/** @param {Answer} answer */
function contentOf({ thinking, text, calls: asked = [] }) {
  return [
    ...(thinking ? [{ type: "thinking", thinking, signature: "c2FtcGxl" }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...asked.map(({ name, input }) => {
      const id = `toolu_01sample${String(++calls).padStart(6, "0")}`;
      return { type: "tool_use", id, name, input };
    }),
  ];
}

/** @param {any} block @param {number} index @returns {object[]} */
function blockEvents(block, index) {
  /** @param {object} delta */
  const delta = (delta) => ({ type: "content_block_delta", index, delta });
  const stop = { type: "content_block_stop", index };
  /** @param {object} empty */
  const start = (empty) => ({
    type: "content_block_start",
    index,
    content_block: { ...block, ...empty },
  });
  if (block.type === "text") {
    return [start({ text: "" }), delta({ type: "text_delta", text: block.text }), stop];
  }
  if (block.type === "thinking") {
    const { thinking, signature } = block;
    return [
      start({ thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking }),
      delta({ type: "signature_delta", signature }),
      stop,
    ];
  }
  const partial_json = JSON.stringify(block.input);
  return [start({ input: {} }), delta({ type: "input_json_delta", partial_json }), stop];
}

/** @param {Answer} answer */
function usageOf({ usage = DEFAULT_USAGE }) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite ?? 0,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: usage.output,
  };
}
