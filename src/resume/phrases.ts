/** Phrases: every text that resume itself adds to a conversation. */

/** For a call without a result. Models act on it: an action that ran must not run again unseen. */
export const UNCERTAIN_RESULT =
  "UNCERTAIN: no result of this call was recorded. The tool may have run, wholly, in part or not " +
  "at all. Check what it did before you call it again.";

/** For a call that was cut before its input was complete. */
export const NOT_STARTED_RESULT =
  "NOT STARTED: this call broke off before its input was whole. The tool did not run.";

/** For a tool that failed without a reason. */
export const SILENT_FAILURE = "The tool failed and said nothing.";

export const STRAY_RESULT = "[The result of a tool call that is not in this conversation:]";
export const STRAY_OUTPUT = "[A tool's output, without the call that it belongs to:]";
export const SYSTEM_SAID = "[The system says:]";

/** For a session that begins with an assistant message. */
export const FIRST_USER_TEXT = "[The conversation begins with the assistant's words.]";
/** For one that ends with an assistant message, unless the caller passes a prompt. */
export const LAST_USER_TEXT = "Continue.";
