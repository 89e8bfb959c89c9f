/** Derived kinds: which dialects keep files beside their logs that are made from them. */

import type { DialectName } from "../../dialects/dialect.ts";
import type { DerivedKind } from "./derived.ts";
import { entireDerived } from "./entire-derived.ts";
import { ryeDerived } from "./rye-derived.ts";

/** homeagent keeps none. */
export const DERIVED_KINDS: Readonly<Partial<Record<DialectName, DerivedKind>>> = {
  rye: ryeDerived,
  entire: entireDerived,
};
