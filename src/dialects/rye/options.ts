/** Options: those of `openStore` that only rye has. */

import type { OwnOptions } from "../../base/choice.ts";
import { LEGACY_PROFILE, type LegacyProfile } from "../../proof/envelopes.ts";
import type { Envelope } from "./envelope.ts";

export interface RyeOptions {
  /** Which envelope new threads get. Default: `flat`. */
  readonly envelope?: Envelope;
  /** The root is the directory of threads itself, not the project. Default: false. */
  readonly isThreadsRoot?: boolean;
  /** Whether `transcript.md` grows as events are appended. Default: true. */
  readonly markdown?: boolean;
  /**
   * Where `sign` is on: continues threads that the Python original signed, by keys that the user
   * allowed that format. Their lines are stated as found. Default: refuses them.
   */
  readonly profile?: LegacyProfile;
}

export const OPTIONS: OwnOptions<RyeOptions> = {
  envelope: ["flat", "payload"],
  isThreadsRoot: "boolean",
  markdown: "boolean",
  profile: [LEGACY_PROFILE],
};
