/**
 * `verbatim-log/openai-agents`: sessions of the OpenAI Agents SDK in append-only logs.
 *
 * @example
 * const session = new VerbatimSession({ sessionId: "support-42", sign: true });
 * await run(agent, "Hello", { session });
 */

export { SessionError as VerbatimError } from "../core/base/published-errors.ts";
export {
  VerbatimSession,
  type VerbatimSessionOptions,
} from "../integrations/openai-agents/session.ts";
