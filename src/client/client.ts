/** Client: a server's sessions and streams, using only `fetch`. */

import { checkKind, checkOptions, type OptionKinds } from "../core/base/choice.ts";
import type { FigureOptions, InsightOptions, InsightSessions, Insights } from "./insight-shapes.ts";
import { type ClientOptions, Requester } from "./request.ts";
import type { ToolOptions, ToolReport } from "./search-shapes.ts";
import { SessionsClient } from "./sessions.ts";
import type { NewShareItem, ShareRequest } from "./share-shapes.ts";
import { StreamsClient } from "./streams.ts";
import type { UsageOptions, UsageReport } from "./usage-shapes.ts";

const USAGE_OPTIONS: OptionKinds<UsageOptions> = {
  since: "text",
  until: "text",
  tz: "text",
  agent: "text",
  project: "text",
  machine: "text",
  user: "text",
  by: "text",
  limit: "count",
  signal: "object",
};
const { by: _, ...INSIGHT_OPTIONS } = USAGE_OPTIONS;
const FIGURE_OPTIONS: OptionKinds<FigureOptions> = {
  ...INSIGHT_OPTIONS,
  figure: "text",
  tool: "text",
  file: "text",
  hour: "text",
  model: "text",
};
const TOOL_OPTIONS: OptionKinds<ToolOptions> = {
  since: "text",
  until: "text",
  dialect: "text",
  signal: "object",
};

const SHARE_OPTIONS: OptionKinds<ShareRequest> = {
  session: "text",
  redact: "object",
  match: "object",
  reason: "text",
  expiresInSeconds: "count",
};

export class VerbatimClient {
  readonly sessions: SessionsClient;
  readonly streams: StreamsClient;
  readonly #requester: Requester;

  constructor(options: ClientOptions) {
    const requester = new Requester(options);
    this.#requester = requester;
    this.sessions = new SessionsClient(requester);
    this.streams = new StreamsClient(requester);
  }

  /** Whether the server shows example sessions, because the user has none. */
  demo(): Promise<{ readonly isShown: boolean }> {
    return this.#requester.json("/v1/demo");
  }

  /** Removes the example sessions for good. */
  async removeDemo(): Promise<void> {
    await this.#requester.send("/v1/demo", { method: "DELETE" });
  }

  /** Shares part of a session: the link is `${url}/#/share/${token}`. Only its owner may. */
  async share(asked: ShareRequest): Promise<NewShareItem> {
    return this.#requester.json("/v1/shares", shareCall(asked, {}));
  }

  /** The copy that `share` would show, as its bytes. Nothing is shared or stored. */
  async previewShare(asked: ShareRequest): Promise<Uint8Array> {
    const response = await this.#requester.send("/v1/shares", shareCall(asked, { preview: true }));
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Revokes a share for good. */
  async revokeShare(id: string): Promise<void> {
    checkKind("id", id, "text");
    await this.#requester.send(`/v1/shares/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /**
   * What all sessions used and what it cost. While the server counts (`isComplete` is false), ask
   * again.
   */
  async usage(given: UsageOptions = {}): Promise<UsageReport> {
    checkOptions("usage", given, USAGE_OPTIONS);
    const { signal, ...options } = given;
    return this.#requester.json("/v1/usage", { query: { ...options }, ...(signal && { signal }) });
  }

  /** When, with which tools and on which files agents worked. While `isComplete` is false, ask again. */
  async insights(given: InsightOptions = {}): Promise<Insights> {
    checkOptions("insights", given, INSIGHT_OPTIONS);
    const { signal, ...query } = given;
    return this.#requester.json("/v1/usage/insights", { query, ...(signal && { signal }) });
  }

  /** The sessions behind a figure of the insights: their parts add up to it. */
  async figure(given: FigureOptions): Promise<InsightSessions> {
    checkOptions("figure", given, FIGURE_OPTIONS);
    checkKind("figure", given.figure, "text");
    const { signal, ...query } = given;
    return this.#requester.json("/v1/usage/insights/sessions", {
      query,
      ...(signal && { signal }),
    });
  }

  /** How often tools were called, failed, and how long they took, in all sessions. */
  async tools(given: ToolOptions = {}): Promise<ToolReport> {
    checkOptions("tools", given, TOOL_OPTIONS);
    const { signal, ...options } = given;
    return this.#requester.json("/v1/tools", { query: { ...options }, ...(signal && { signal }) });
  }
}

function shareCall(asked: ShareRequest, more: object) {
  checkOptions("share", asked, SHARE_OPTIONS);
  checkKind("session", asked.session, "text");
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify({ ...asked, ...more }) };
}
