/** Store checks: what a store keeps next to its sessions, per dialect. */

import type { DialectName } from "../dialects/dialect.ts";
import type { Finding } from "../findings/finding.ts";
import type { FoundStore } from "../listing/find-stores.ts";
import { lookAtHooks } from "./claude-hooks.ts";
import type { Doctor } from "./examine-session.ts";
import { lookAtRegistry, mendRegistry } from "./rye-registry.ts";

export interface StoreCheck {
  look(doctor: Doctor, store: FoundStore): AsyncIterable<Finding>;
  /** Mends what a look found, and says what it did; absent where repair mends none of it. */
  mend?(doctor: Doctor, store: FoundStore): Promise<string>;
}

export const STORE_CHECKS: Readonly<Partial<Record<DialectName, StoreCheck>>> = {
  claude: { look: lookAtHooks },
  rye: { look: lookAtRegistry, mend: mendRegistry },
};
