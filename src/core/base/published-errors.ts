/**
 * Published errors: `VerbatimError` as an entry point exports it, with the codes that it throws.
 *
 * At run time all of them are the same class. `ErrorOf` is a union by code, so that a comparison of
 * `code` decides the type of `details`, which one class with all codes cannot.
 */

import {
  type CaptureErrors,
  type ChatErrors,
  type ClientErrors,
  type ExportErrors,
  type FetchErrors,
  type HistoryErrors,
  type LogErrors,
  type ResumeErrors,
  type ServerErrors,
  type SessionErrors,
  type StreamErrors,
  VerbatimError,
  type VerifyErrors,
} from "./errors.ts";

/** An error with its code and facts. Messages are for people, and may change. */
export interface CodedError<Code, Details> extends Error {
  readonly name: "VerbatimError";
  readonly code: Code;
  readonly details: Details;
}

/** The errors of a list of codes: a comparison of `code` decides the type of `details`. */
export type ErrorOf<List> = { [Code in keyof List]: CodedError<Code, List[Code]> }[keyof List];

/** The class of such errors, for `instanceof`. */
export type ErrorClass<List> = abstract new (...facts: never) => ErrorOf<List>;

export const LogError: ErrorClass<LogErrors> = classOf();
export type LogError = ErrorOf<LogErrors>;

export const SessionError: ErrorClass<SessionErrors> = classOf();
export type SessionError = ErrorOf<SessionErrors>;

export const VerifyError: ErrorClass<VerifyErrors> = classOf();
export type VerifyError = ErrorOf<VerifyErrors>;

export const ResumeError: ErrorClass<ResumeErrors> = classOf();
export type ResumeError = ErrorOf<ResumeErrors>;

export const HistoryError: ErrorClass<HistoryErrors> = classOf();
export type HistoryError = ErrorOf<HistoryErrors>;

export const CaptureError: ErrorClass<CaptureErrors> = classOf();
export type CaptureError = ErrorOf<CaptureErrors>;

export const FetchError: ErrorClass<FetchErrors> = classOf();
export type FetchError = ErrorOf<FetchErrors>;

export const StreamError: ErrorClass<StreamErrors> = classOf();
export type StreamError = ErrorOf<StreamErrors>;

export const ChatError: ErrorClass<ChatErrors> = classOf();
export type ChatError = ErrorOf<ChatErrors>;

export const ServerError: ErrorClass<ServerErrors> = classOf();
export type ServerError = ErrorOf<ServerErrors>;

export const ClientError: ErrorClass<ClientErrors> = classOf();
export type ClientError = ErrorOf<ClientErrors>;

export const ExportError: ErrorClass<ExportErrors> = classOf();
export type ExportError = ErrorOf<ExportErrors>;

/** Only the type is narrowed. */
function classOf<List>(): ErrorClass<List> {
  return VerbatimError as unknown as ErrorClass<List>;
}
