/**
 * Provider streams: what providers send, event by event, after their documentation; and its bytes.
 * Every field of a message occurs once.
 */

export type ProviderEvent = Readonly<Record<string, unknown>>;

/** Events, or pieces of bytes, as a stream. */
export async function* given<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export interface SseOptions {
  readonly eol?: "\n" | "\r\n" | "\r";
  /** Names each event by its `type`, as Anthropic and OpenAI's responses do. Default: true. */
  readonly named?: boolean;
  /** Ends as chat completions do. */
  readonly done?: boolean;
}

/** Events as server-sent events. */
export function sseBytes(
  events: readonly ProviderEvent[],
  { eol = "\n", named = true, done = false }: SseOptions = {},
): Buffer {
  const frames = events.map((event) => {
    const name = named && typeof event.type === "string" ? `event: ${event.type}${eol}` : "";
    return `${name}data: ${JSON.stringify(event)}${eol}${eol}`;
  });
  return Buffer.from(frames.join("") + (done ? `data: [DONE]${eol}${eol}` : ""));
}

const start = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const stop = (index: number) => ({ type: "content_block_stop", index });

/**
 * Thinking with its signature, redacted thinking, text with a citation, two calls, a tool, a
 * summary.
 */
export const ANTHROPIC: readonly ProviderEvent[] = [
  {
    type: "message_start",
    message: {
      id: "msg_01",
      type: "message",
      role: "assistant",
      model: "claude-opus-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 472,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 2000,
        output_tokens: 2,
        service_tier: "standard",
      },
    },
  },
  start(0, { type: "thinking", thinking: "", signature: "" }),
  { type: "ping" },
  delta(0, { type: "thinking_delta", thinking: "Grüße, 😀 " }),
  delta(0, { type: "thinking_delta", thinking: "or not?" }),
  delta(0, { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" }),
  stop(0),
  start(1, { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" }),
  stop(1),
  start(2, { type: "text", text: "", citations: [] }),
  delta(2, { type: "text_delta", text: "I look" }),
  delta(2, { type: "text_delta", text: " it up:\n\u2028“né”" }),
  delta(2, {
    type: "citations_delta",
    citation: { type: "char_location", cited_text: "né", document_index: 0 },
  }),
  stop(2),
  start(3, { type: "tool_use", id: "toolu_01", name: "get_weather", input: {} }),
  delta(3, { type: "input_json_delta", partial_json: "" }),
  delta(3, { type: "input_json_delta", partial_json: '{"location": "Zür' }),
  delta(3, { type: "input_json_delta", partial_json: 'ich", "days": 1' }),
  delta(3, { type: "input_json_delta", partial_json: "2}" }),
  stop(3),
  start(4, {
    type: "tool_use",
    id: "toolu_02",
    name: "now",
    input: {},
    caller: { type: "direct" },
  }),
  stop(4),
  start(5, { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: {} }),
  delta(5, { type: "input_json_delta", partial_json: '{"query":"rain"}' }),
  stop(5),
  start(6, { type: "compaction", content: null }),
  delta(6, {
    type: "compaction_delta",
    content: "Rain was asked for.",
    encrypted_content: "EowBCkYIBRgC",
  }),
  stop(6),
  { type: "weather_report", unknown: true },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 61 },
  },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 89, input_tokens: null },
  },
  { type: "message_stop" },
];

const chunk = (rest: object) => ({
  id: "chatcmpl-7",
  object: "chat.completion.chunk",
  created: 1_763_000_000,
  model: "gpt-5.5-mini",
  ...rest,
});
const choice = (delta: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
const call = (index: number, rest: object) => choice({ tool_calls: [{ index, ...rest }] });

/**
 * Azure's empty first chunk, text, two calls with interleaved pieces, the usage in its own chunk.
 */
export const CHAT: readonly ProviderEvent[] = [
  {
    id: "",
    object: "",
    created: 0,
    model: "",
    choices: [],
    prompt_filter_results: [{ prompt_index: 0 }],
  },
  choice({ role: "assistant", content: "", refusal: null }),
  choice({ content: "Grü" }),
  choice({ content: "ße 😀\u007f" }),
  call(0, { id: "call_1", type: "function", function: { name: "weather", arguments: "" } }),
  call(0, { function: { arguments: '{"city":"Zü' } }),
  call(1, { id: "call_2", type: "function", function: { name: "now", arguments: "{" } }),
  call(0, { function: { arguments: 'rich"}' } }),
  call(1, { function: { arguments: "}" } }),
  choice({}, "tool_calls"),
  chunk({
    choices: [],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 30,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
  }),
];

const RESPONSE = { id: "resp_1", object: "response", model: "gpt-5.5", created_at: 1_763_000_000 };
const REASONING = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Thinking of rain." }],
  encrypted_content: "gAAAAABo",
};
const MESSAGE = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  phase: "final_answer",
  content: [
    {
      type: "output_text",
      text: "Es regnet in Zürich 😀",
      annotations: [{ type: "url_citation", url: "https://weather.example", title: "Weather" }],
    },
    { type: "refusal", refusal: "No more." },
  ],
};
const FUNCTION_CALL = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "weather",
  arguments: '{"city":"Zürich"}',
  status: "completed",
};
const CUSTOM_CALL = {
  type: "custom_tool_call",
  id: "ctc_1",
  call_id: "call_2",
  name: "patch",
  input: "*** Begin",
};
const SEARCH = { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "x" } };
const COMPACTION = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABpQ" };
export const RESPONSE_OUTPUT = [REASONING, SEARCH, MESSAGE, FUNCTION_CALL, CUSTOM_CALL, COMPACTION];
const RESPONSE_USAGE = {
  input_tokens: 210,
  input_tokens_details: { cached_tokens: 150, cache_write_tokens: 20 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 40 },
  total_tokens: 270,
};

const at = (output_index: number, type: string, rest: object) => ({
  type: `response.${type}`,
  output_index,
  ...rest,
});
const text = (content_index: number, type: string, rest: object) =>
  at(2, type, { item_id: "msg_1", content_index, ...rest });

/** Every event of a response except its last, so that the output is only in the pieces. */
const RESPONSE_PIECES: readonly ProviderEvent[] = [
  { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
  { type: "response.in_progress", response: { ...RESPONSE, status: "in_progress", output: [] } },
  at(0, "output_item.added", { item: { type: "reasoning", id: "rs_1", summary: [] } }),
  at(0, "reasoning_summary_part.added", {
    summary_index: 0,
    part: { type: "summary_text", text: "" },
  }),
  at(0, "reasoning_summary_text.delta", { summary_index: 0, delta: "Thinking" }),
  at(0, "reasoning_summary_text.delta", { summary_index: 0, delta: " of rain." }),
  at(0, "reasoning_summary_text.done", { summary_index: 0, text: "Thinking of rain." }),
  at(0, "output_item.done", { item: REASONING }),
  at(1, "output_item.added", { item: { ...SEARCH, status: "in_progress" } }),
  at(1, "web_search_call.searching", { item_id: "ws_1" }),
  at(1, "output_item.done", { item: SEARCH }),
  at(2, "output_item.added", { item: { ...MESSAGE, status: "in_progress", content: [] } }),
  text(0, "content_part.added", { part: { type: "output_text", text: "", annotations: [] } }),
  text(0, "output_text.delta", { delta: "Es regnet" }),
  text(0, "output_text.delta", { delta: " in Zürich 😀" }),
  text(0, "output_text.annotation.added", {
    annotation_index: 0,
    annotation: MESSAGE.content[0]?.annotations?.[0],
  }),
  text(0, "output_text.done", { text: "Es regnet in Zürich 😀" }),
  text(0, "content_part.done", { part: MESSAGE.content[0] }),
  text(1, "content_part.added", { part: { type: "refusal", refusal: "" } }),
  text(1, "refusal.delta", { delta: "No " }),
  text(1, "refusal.delta", { delta: "more." }),
  text(1, "refusal.done", { refusal: "No more." }),
  { type: "response.weather_report", unknown: true },
  at(2, "output_item.done", { item: MESSAGE }),
  at(3, "output_item.added", { item: { ...FUNCTION_CALL, status: "in_progress", arguments: "" } }),
  at(3, "function_call_arguments.delta", { item_id: "fc_1", delta: '{"city":' }),
  at(3, "function_call_arguments.delta", { item_id: "fc_1", delta: '"Zürich"}' }),
  at(3, "function_call_arguments.done", { item_id: "fc_1", arguments: '{"city":"Zürich"}' }),
  at(3, "output_item.done", { item: FUNCTION_CALL }),
  at(4, "output_item.added", { item: { ...CUSTOM_CALL, input: "" } }),
  at(4, "custom_tool_call_input.delta", { delta: "*** Begin" }),
  at(4, "output_item.done", { item: CUSTOM_CALL }),
  at(5, "output_item.added", { item: COMPACTION }),
  at(5, "output_item.done", { item: COMPACTION }),
];

/** Reasoning with its encrypted part, a search, text with a citation, a refusal, two calls. */
export const RESPONSES: readonly ProviderEvent[] = [
  ...RESPONSE_PIECES,
  {
    type: "response.completed",
    response: { ...RESPONSE, status: "completed", output: RESPONSE_OUTPUT, usage: RESPONSE_USAGE },
  },
].map((event, sequence_number) => ({ ...event, sequence_number }));

export interface RecordedStream {
  readonly provider: "anthropic" | "openai";
  readonly events: readonly ProviderEvent[];
  readonly sse: SseOptions;
}

/** All of them, by name. */
export const STREAMS: Readonly<Record<string, RecordedStream>> = {
  anthropic: { provider: "anthropic", events: ANTHROPIC, sse: {} },
  "openai chat": { provider: "openai", events: CHAT, sse: { named: false, done: true } },
  "openai responses": { provider: "openai", events: RESPONSES, sse: {} },
};
