/**
 * `verbatim-log/langgraph`: a checkpointer of LangGraph whose threads are append-only logs.
 *
 * @example
 * const graph = builder.compile({ checkpointer: new VerbatimSaver({ sign: "append" }) });
 * await graph.invoke({ messages: [question] }, { configurable: { thread_id: "support-42" } });
 */

export { SessionError as VerbatimError } from "../core/base/published-errors.ts";
export { VerbatimSaver, type VerbatimSaverOptions } from "../integrations/langgraph/saver.ts";
