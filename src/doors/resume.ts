/**
 * `verbatim-log/resume`: a recorded session as messages for a provider, and a report of all repairs
 * that this needed.
 *
 * @example
 * const { messages, system, report } = await resume("hello_world-1739012630", { for: "anthropic" });
 * for (const { why, line } of report.actions) console.error(line, why);
 */

import {
  badArgument,
  checkData,
  checkKind,
  checkOptions,
  type OptionKinds,
} from "../core/base/choice.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { type Continued, type ContinueOptions, continueResumed } from "../resume/continue.ts";
import { type HandedOff, type HandoffOptions, handoffSession } from "../resume/handoff/handoff.ts";
import { type Unpacked, type UnpackOptions, unpackBundle } from "../resume/handoff/unpack.ts";
import type { TargetName } from "../resume/repair-report.ts";
import { requestBody as bodyOf, type RequestBody, type RequestOptions } from "../resume/request.ts";
import {
  type ResumableOptions,
  type ResumableSession,
  openResumable as resumableOf,
} from "../resume/resumable.ts";
import { type Resumed, type ResumeOptions, resumeSession } from "../resume/resume.ts";
import { bringInHooks } from "../sessions/list/waiting-hooks.ts";
import { Session as OpenedSession } from "../sessions/store/session.ts";
import { Store as OpenedStore } from "../sessions/store/store.ts";
import type { Session, Store } from "../sessions/store/store-api.ts";

const RESUME_OPTIONS: OptionKinds<ResumeOptions> = {
  for: "any",
  root: "text",
  dialect: "any",
  requirePin: "boolean",
  profile: "any",
  policy: "any",
  allowUnsigned: "boolean",
  upTo: "any",
  snapshot: "boolean",
  prompt: "any",
};

const RESUMABLE_OPTIONS: OptionKinds<ResumableOptions> = {
  for: "any",
  policy: "any",
  allowUnsigned: "boolean",
  requirePin: "boolean",
  profile: "any",
};

const HANDOFF_OPTIONS: OptionKinds<HandoffOptions> = {
  root: "text",
  dialect: "any",
  output: "text",
  summary: "string",
  requirePin: "boolean",
  profile: "any",
};

const UNPACK_OPTIONS: OptionKinds<UnpackOptions> = {
  root: "text",
  dialect: "any",
  id: "string",
  agent: "string",
  sign: "boolean",
  requirePin: "boolean",
  onWarning: "function",
};

/**
 * The messages that continue a session, from the same bytes that were verified. Throws NOT_VERIFIED
 * if the policy does not accept the session, SESSION_BUSY if another process is writing it. Writes
 * nothing except waiting hooks of the session. The same session gives the same messages.
 *
 * @example
 * const { messages, system } = await resume(session, { for: "anthropic", prompt: "And now?" });
 * await client.messages.create({ model, max_tokens: 1024, system: system ?? "", messages, tools });
 */
export async function resume<Name extends TargetName>(
  session: string | Session,
  options: ResumeOptions<Name>,
): Promise<Resumed<Name>> {
  checkSession("resume", session);
  checkOptions("resume", options, RESUME_OPTIONS);
  if (options.prompt !== null && options.prompt !== undefined) {
    checkKind("prompt", options.prompt, "string");
  }
  await hooksFirst(session, options);
  return resumeSession(nodeHost, session, options);
}

/**
 * Opens a resumed session to continue it, and first appends the report. A session resumed up to a
 * turn continues as a fork: a new session with the parent's entries up to there, which names the
 * parent and its signed head.
 *
 * @example
 * const resumed = await resume("hello_world-1739012630", { for: "anthropic", upTo: 3 });
 * const { session } = await continueSession(store, resumed); // a fork, with the report in it
 */
export async function continueSession(
  store: Store,
  resumed: Resumed,
  options: ContinueOptions = {},
): Promise<Continued> {
  if (!(store instanceof OpenedStore)) {
    throw badArgument("continueSession", "needs a store of openStore");
  }
  checkResumed("continueSession", resumed);
  checkOptions("continueSession", options, { id: "string" });
  return continueResumed(nodeHost, store, resumed, options);
}

/**
 * Writes a session into one file that another person can continue: its log, its proof, and a
 * readable transcript. Throws NOT_VERIFIED unless the session is verified, under any policy.
 *
 * @example
 * const { path, manifest } = await handoff("hello_world-1739012630", { output: "hello.vbx" });
 */
export async function handoff(
  session: string | Session,
  options: HandoffOptions = {},
): Promise<HandedOff> {
  checkSession("handoff", session);
  checkOptions("handoff", options, HANDOFF_OPTIONS);
  await hooksFirst(session, options);
  return handoffSession(nodeHost, session, options);
}

/**
 * Verifies a bundle by the keys that you trust, then puts its session into a store: byte for byte
 * in its own dialect, as a new session in another. A refused bundle leaves nothing behind.
 *
 * @example
 * const { session, fidelity } = await unpack("hello.vbx", { root: "project" });
 */
export async function unpack(path: string, options: UnpackOptions = {}): Promise<Unpacked> {
  checkKind("path", path, "text");
  checkOptions("unpack", options, UNPACK_OPTIONS);
  return unpackBundle(nodeHost, path, options);
}

/**
 * The body of a request that continues the session, typed for the provider's SDK. Throws
 * MODEL_UNKNOWN if no model is given and the session names none of this provider. The AI SDK's body
 * never has a model, because there it is an object.
 *
 * @example
 * const resumed = await resume("hello_world-1739012630", { for: "anthropic" });
 * const answer = await new Anthropic().messages.create({ ...requestBody(resumed), stream: true });
 */
export function requestBody<Name extends TargetName>(
  resumed: Resumed<Name>,
  options: RequestOptions = {},
): RequestBody<Name> {
  checkResumed("requestBody", resumed);
  checkOptions("requestBody", options, { model: "text", maxTokens: "count" });
  return bodyOf(resumed, options);
}

/**
 * A session to continue, created if there is none, and its messages for each request. Opening it is
 * as strict as `resume`, and takes as long; after that its `resume` reads only what is new.
 *
 * @example
 * const chat = await openResumable(store, "chat-1", { for: "anthropic" });
 * await chat.session.append(question);
 * const { messages } = await chat.resume();
 */
export async function openResumable<Name extends TargetName>(
  store: Store,
  id: string,
  options: ResumableOptions<Name>,
): Promise<ResumableSession<Name>> {
  if (!(store instanceof OpenedStore)) {
    throw badArgument("openResumable", "needs a store of openStore");
  }
  checkKind("id", id, "text");
  checkOptions("openResumable", options, RESUMABLE_OPTIONS);
  return resumableOf(nodeHost, store, id, options);
}

/** Drains waiting hooks into the session before it is read. */
async function hooksFirst(
  session: string | Session,
  { root }: { readonly root?: string },
): Promise<void> {
  const name = typeof session === "string" ? session : session.path;
  await bringInHooks(nodeHost, { cwd: process.cwd(), root }, [name]);
}

function checkSession(of: string, session: unknown): asserts session is string | OpenedSession {
  if (session instanceof OpenedSession || (typeof session === "string" && session !== "")) return;
  throw badArgument(of, "needs a session, by its id or its path, or as openStore gives it");
}

function checkResumed(of: string, resumed: unknown): void {
  checkData(of, resumed, "resumed session");
  const { report, source } = resumed as Partial<Resumed>;
  const isResumed = typeof report === "object" && typeof source === "object";
  if (!isResumed) throw badArgument(of, "needs what resume has given, after an await");
}

export type { DirectoryErrors, ResumeErrors, VerifyErrors } from "../core/base/errors.ts";
export { ResumeError as VerbatimError } from "../core/base/published-errors.ts";
export type { Erasure } from "../core/model/erasure.ts";
export type { Continued, ContinueOptions } from "../resume/continue.ts";
export type { ListedMember } from "../resume/handoff/bundle-archive.ts";
export type { HandedOff, HandoffOptions } from "../resume/handoff/handoff.ts";
export type { BundleHead, BundleManifest, GitIdentity } from "../resume/handoff/manifest.ts";
export type { RecordedFrom } from "../resume/handoff/of-program.ts";
export type { Fidelity, FidelityChange } from "../resume/handoff/transcode.ts";
export type { Unpacked, UnpackOptions } from "../resume/handoff/unpack.ts";
export type { ImageType } from "../resume/image.ts";
export type {
  RepairAction,
  RepairReason,
  RepairReport,
  SourceLines as Made,
  TargetName,
} from "../resume/repair-report.ts";
export type {
  AiSdkRequest,
  AnthropicRequest,
  AnthropicTool,
  ChatRequest,
  RequestBody,
  RequestOptions,
  ResponsesRequest,
  TargetRequests,
} from "../resume/request.ts";
export type { ResumableOptions, ResumableSession } from "../resume/resumable.ts";
export type {
  Resumed,
  ResumedSource,
  ResumeOptions,
  TargetMessages,
} from "../resume/resume.ts";
export type {
  AiSdkContent,
  AiSdkMessage,
  AiSdkOutput,
  AiSdkOutputPart,
  AiSdkResult,
  AiSdkSpoken,
} from "../resume/targets/ai-sdk.ts";
export type {
  AnthropicBlock,
  AnthropicContent,
  AnthropicImage,
  AnthropicMessage,
} from "../resume/targets/anthropic.ts";
export type {
  ChatContent,
  ChatMessage,
  ChatToolCall,
  ResponsesContent,
  ResponsesItem,
} from "../resume/targets/openai.ts";
export type { DroppedWhy } from "../sessions/store/entry-mapping.ts";
export type { Policy } from "../trust/judge/policy.ts";
export type { VerifyReport } from "../trust/judge/report.ts";
export type { FoundRange as Found, SignedHead } from "../trust/proof/checkpoint.ts";
export type { CheckpointProfile } from "../trust/proof/envelopes.ts";
export type { Freshness } from "../trust/proof/pins.ts";
export type { Finding, FindingCode, Verdict } from "../trust/proof/verdict.ts";
