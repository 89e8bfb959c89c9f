/** Usage places: where the ledger and the prices of a user are. */

import { dirname, join } from "node:path";
import { dataDirectory, userPaths } from "../core/base/node-paths.ts";

/** Where the ledger, the sums and the price journal are. */
export function usageDirectory(): string {
  return join(dataDirectory(), "usage");
}

/** The user's own prices. */
export function ownPricesPath(): string {
  return join(dirname(userPaths().configPath), "prices.json");
}
