/** Phrases: every word that resume puts into a conversation by itself. */

/** Of a call without a result. Models act on it: an action that ran must not run again unseen. */
export const UNCERTAIN_RESULT =
  "UNCERTAIN: no result of this call was recorded. The tool may have run, wholly, in part or not " +
  "at all. Check what it did before you call it again.";

/** Of a call that broke off before its input was whole. */
export const NOT_STARTED_RESULT =
  "NOT STARTED: this call broke off before its input was whole. The tool did not run.";

/** Of a tool that failed and did not say why. */
export const SILENT_FAILURE = "The tool failed and said nothing.";

export const STRAY_RESULT = "[The result of a tool call that is not in this conversation:]";
export const STRAY_OUTPUT = "[A tool's output, without the call that it belongs to:]";
export const SYSTEM_SAID = "[The system says:]";

/** Where a session begins with what the model said. */
export const FIRST_USER_TEXT = "[The conversation begins with the assistant's words.]";
/** Where it ends with them, unless the caller has something to say. */
export const LAST_USER_TEXT = "Continue.";
