/**
 * `verbatim-log/ai-sdk`: chats of the Vercel AI SDK, kept while they are streamed, resumed from any
 * byte, and stopped for real.
 *
 * @example
 * const chats = new VerbatimChats({ streams: await openStreams({ root: "data" }) });
 * const POST = async (request: Request) => {
 *   const { id, message } = await request.json();
 *   return chats.respond(id, {
 *     message,
 *     answer: async ({ messages, abortSignal }) =>
 *       streamText({ model, messages: await convertToModelMessages(messages), abortSignal })
 *         .toUIMessageStream(),
 *   });
 * };
 */

export type { ChatErrors, DirectoryErrors, StreamErrors } from "../core/base/errors.ts";
export { ChatError as VerbatimError } from "../core/base/published-errors.ts";
export type { EmbeddedStreams, ServedStreams } from "../integrations/ai-sdk/answer-streams.ts";
export type {
  AnswerCall,
  LoadedChat,
  RespondOptions,
  ResumeAnswerOptions,
  VerbatimChatsOptions,
} from "../integrations/ai-sdk/chat-options.ts";
export { VerbatimChats } from "../integrations/ai-sdk/chats.ts";
