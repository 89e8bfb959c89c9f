/** Options of `openStore` that only rye has. */

import type { OwnOptions } from "../../core/base/choice.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import type { Envelope } from "./envelope.ts";

export interface RyeOptions {
  /** Envelope of new threads. Default: `flat`. */
  readonly envelope?: Envelope;
  /** The root is the directory of threads itself, not the project. Default: false. */
  readonly isThreadsRoot?: boolean;
  /** Whether `transcript.md` is updated as events are appended. Default: true. */
  readonly markdown?: boolean;
  /**
   * With `sign`: continues threads that the Python original signed, by keys that the user allowed
   * for that format. Their lines are recorded as found. Default: refuses them.
   */
  readonly profile?: "rye";
}

export const OPTIONS: OwnOptions<RyeOptions> = {
  envelope: ["flat", "payload"],
  isThreadsRoot: "boolean",
  markdown: "boolean",
  profile: [LEGACY_PROFILE],
};
