/** Options of `openStore` that only entire has. */

import type { OwnOptions } from "../../core/base/choice.ts";

export interface EntireOptions {
  /** The model of messages that name none. */
  readonly model?: string;
  /** The version of the recording program. Default: this package's. */
  readonly version?: string;
}

export const OPTIONS: OwnOptions<EntireOptions> = { model: "string", version: "string" };
