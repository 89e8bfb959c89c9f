/** Store checks: what a store keeps beside its sessions, per dialect, and can make anew from them. */

import type { DialectName } from "../../dialects/dialect.ts";
import type { FoundStore } from "../find-stores.ts";
import type { Doctor } from "./examine-session.ts";
import type { Finding } from "./finding.ts";
import { lookAtRegistry, mendRegistry } from "./rye-registry.ts";

export interface StoreCheck {
  look(doctor: Doctor, store: FoundStore): AsyncIterable<Finding>;
  /** Mends what a look found, and says what it did. */
  mend(doctor: Doctor, store: FoundStore): Promise<string>;
}

export const STORE_CHECKS: Readonly<Partial<Record<DialectName, StoreCheck>>> = {
  rye: { look: lookAtRegistry, mend: mendRegistry },
};
