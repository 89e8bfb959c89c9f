/** Derived kinds: which dialects keep files beside their logs that are made from them. */

import type { DialectName } from "../dialects/dialect.ts";
import { entireDerived } from "../dialects/entire/files/check-files.ts";
import type { DerivedKind } from "../dialects/files/derived.ts";
import { ryeDerived } from "../dialects/rye/files/check-files.ts";

/** homeagent keeps none. */
export const DERIVED_KINDS: Readonly<Partial<Record<DialectName, DerivedKind>>> = {
  rye: ryeDerived,
  entire: entireDerived,
};
