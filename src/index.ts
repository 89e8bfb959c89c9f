/** `verbatim-log`: what every door shares. The log itself is `verbatim-log/log`. */

export {
  type ErrorCode,
  type ErrorDetails,
  type LineFault,
  type LockHolder,
  VerbatimError,
} from "./base/errors.ts";
