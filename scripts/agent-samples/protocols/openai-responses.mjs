/** OpenAI's Responses API. */

import { DEFAULT_USAGE, sampleId } from "../answers.mjs";

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
    messages: messagesOf(typeof body.input === "string" ? [{ content: body.input }] : body.input),
    tools: (body.tools ?? []).map((/** @type {any} */ { name, type }) => name ?? type),
    isStream: body.stream === true,
    body,
  }),
  reply(answer, { model, isStream }) {
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
    const response = {
      id: sampleId("resp_", 48, ++counts.responses),
      object: "response",
      created_at: 1_767_225_600,
      model,
      error: null,
      incomplete_details: null,
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
    };
    const whole = { ...response, status: "completed", output, usage: totals };
    if (!isStream) return { json: whole };
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    const events = [
      { type: "response.created", response: begun },
      ...output.flatMap(itemEvents),
      { type: "response.completed", response: whole },
    ];
    return {
      isNamed: true,
      events: events.map((event, sequence_number) => ({ ...event, sequence_number })),
    };
  },
  failure: (status) => ({
    error: { code: String(status), message: "The fake provider refuses this request." },
  }),
};

/**
 * A text and a call's arguments come in pieces, as clients make the answer of these.
 *
 * @param {any} item @param {number} output_index @returns {object[]}
 */
function itemEvents(item, output_index) {
  const at = { item_id: item.id, output_index };
  /** @param {object} empty @param {object[]} pieces */
  const events = (empty, pieces) => [
    {
      type: "response.output_item.added",
      output_index,
      item: { ...item, ...empty, status: "in_progress" },
    },
    ...pieces,
    { type: "response.output_item.done", output_index, item },
  ];
  if (item.type === "function_call") {
    const type = "response.function_call_arguments";
    return events({ arguments: "" }, [
      { type: `${type}.delta`, ...at, delta: item.arguments },
      { type: `${type}.done`, ...at, name: item.name, arguments: item.arguments },
    ]);
  }
  if (item.type !== "message") return events({}, []);
  const [part] = item.content;
  const place = { ...at, content_index: 0 };
  return events({ content: [] }, [
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...place, delta: part.text, logprobs: [] },
    { type: "response.output_text.done", ...place, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
  ]);
}

/**
 * An answer of the model is several items: its thinking, its text and each of its calls.
 *
 * @param {readonly any[]} [items]
 * @returns {Message[]}
 */
function messagesOf(items = []) {
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
  /** @type {any[]} */
  const blocks = typeof content === "string" ? [{ text: content }] : (content ?? []);
  const text = blocks.map((block) => block.text ?? "").join("\n");
  const isAnswer = role === "assistant" || /^(?:reasoning|item_reference|.*_call)$/.test(type);
  return { role: isAnswer ? "assistant" : "user", text };
}

/** @param {import("../answers.mjs").Answer} answer */
function itemsOf({ thinking, text, calls = [] }) {
  const reasoning = {
    type: "reasoning",
    id: sampleId("rs_", 48, ++counts.items),
    summary: [{ type: "summary_text", text: thinking }],
    encrypted_content: "c2FtcGxl",
  };
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", role: "assistant", status: "completed", content };
  return [
    ...(thinking ? [reasoning] : []),
    ...(text ? [{ ...message, id: sampleId("msg_", 48, ++counts.items) }] : []),
    ...calls.map(callItem),
  ];
}

/** @param {import("../answers.mjs").Call} call */
function callItem({ name, input, namespace }) {
  const call_id = sampleId("call_", 24, ++counts.calls);
  const common = { call_id, status: "completed" };
  if (typeof input === "string") {
    return {
      type: "custom_tool_call",
      id: sampleId("ctc_", 48, counts.calls),
      name,
      input,
      ...common,
    };
  }
  const named = namespace === undefined ? { name } : { name, namespace };
  const id = sampleId("fc_", 48, counts.calls);
  return { type: "function_call", id, ...named, arguments: JSON.stringify(input), ...common };
}
