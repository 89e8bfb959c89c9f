/**
 * `verbatim-log/client`: a Verbatim server's API, typed; for Node and for browsers.
 *
 * @example
 * const client = new VerbatimClient({ url: "http://127.0.0.1:4437" });
 * const { sessions } = await client.sessions.list({ limit: 10 });
 * for (const { id, title } of sessions) console.log(id, title);
 */

export { VerbatimClient } from "../client/client.ts";
export type { FoundText, SessionFinds } from "../client/find-shapes.ts";
export type { SessionEvent, SessionFollowOptions } from "../client/follow.ts";
export type {
  EditedFile,
  FigureOptions,
  InsightFigure,
  InsightOptions,
  InsightPeriod,
  InsightSession,
  InsightSessions,
  Insights,
} from "../client/insight-shapes.ts";
export type {
  EntryNotes,
  NoteChanges,
  NoteOptions,
  NoteState,
  SessionNotes,
} from "../client/note-shapes.ts";
export type {
  Exchange,
  ExchangeColumns,
  ExchangesPage,
  OutlineMark,
  OutlinePage,
  SessionThread,
  SessionThreads,
  ThreadParent,
  ToolCalls,
} from "../client/outline-shapes.ts";
export type {
  NewSession,
  PostedEntries,
  PostedEntry,
  PostOptions,
  SentEntry,
} from "../client/posted-shapes.ts";
export type { ClientOptions } from "../client/request.ts";
export type { RetentionReport, RetiredSession } from "../client/retention-shapes.ts";
export type {
  LeftOut,
  SearchHit,
  SearchOptions,
  SearchPage,
  SlowestCall,
  SnippetPiece,
  ToolOptions,
  ToolReport,
  ToolUsageRow,
} from "../client/search-shapes.ts";
export type {
  CheckpointItem,
  CheckpointKey,
  CheckpointPage,
  EntryItem,
  EntryPage,
  Facet,
  LookedIn,
  ResultView,
  SessionBytes,
  SessionFacets,
  SessionHead,
  SessionItem,
  SessionPage,
  SessionSender,
  SessionUsage,
  SessionVerdict,
  Whereabouts,
} from "../client/session-shapes.ts";
export type {
  ByteRange,
  EntryRange,
  ExchangeRange,
  MarkdownChoices,
  OutlineRange,
  SessionFilter,
  SessionListOptions,
  SessionsClient,
} from "../client/sessions.ts";
export type { NewShareItem, ShareRequest } from "../client/share-shapes.ts";
export type { LiveOptions, StreamChunk, StreamsClient } from "../client/streams.ts";
export type {
  CalendarDay,
  CallCost,
  CostColumns,
  CostRange,
  CountedGroup,
  CountedPrompt,
  CountedSession,
  CountedSums,
  PricedModel,
  PromptCost,
  SessionCosts,
  UsageCounting,
  UsageOptions,
  UsagePrices,
  UsageReport,
  UsageSeries,
} from "../client/usage-shapes.ts";
export type { ClientErrors } from "../core/base/errors.ts";
export { ClientError as VerbatimError } from "../core/base/published-errors.ts";
export { TOOL_KINDS, type ToolView } from "../core/model/tool-view.ts";
