/** Sharing: a signed session with secrets, its user, and shares of it. */

import assert from "node:assert/strict";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { createShare } from "../../src/evidence/share/create-share.ts";
import type { MakeOptions, Withholding } from "../../src/evidence/share/share.ts";
import { FileShares } from "../../src/evidence/share/share-files.ts";
import { answered, SigningUser, said, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export const HOUR_MS = 3_600_000;

/** Long enough to be withheld by itself. */
export const ADDRESS =
  "please deliver the new garden table to 17 Mill Lane, in the afternoon, thanks a lot";
export const KEY = `ghp_${"1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX".slice(0, 36)}`;
export const PRIVATE = "diary: I met Ada at noon";
export const SECRETS = ["Mill Lane", KEY, "I met Ada"];

export const WITHHOLDING: Withholding = {
  rules: ["default"],
  texts: ["Mill Lane", "I met Ada"],
  reason: "private",
};

export const ENTRIES = [
  said("Where do I send the table?"),
  answered(ADDRESS),
  said(`the key is ${KEY}`),
  answered(PRIVATE),
  answered("Good night."),
];

export const OPTIONS: MakeOptions = { nowMs: Date.now, onWarning: (text) => assert.fail(text) };

/** A user whose environment is that of the process, as a server and a command see it. */
export async function sharer(): Promise<{ user: SigningUser; root: string; written: Written }> {
  const user = new SigningUser();
  const root = tempDirectory();
  const written = await user.write({ dialect: "rye" }, ENTRIES, { root });
  return { user, root, written };
}

export async function shareOf(
  { target }: Written,
  dataDirectory: string,
  given: Partial<Parameters<typeof createShare>[2]> = {},
) {
  const shares = new FileShares(nodeHost, dataDirectory, Date.now);
  const asked = { session: target, withholding: WITHHOLDING, expiresAtMs: Date.now() + HOUR_MS };
  return { shares, ...(await createShare(nodeHost, shares, { ...asked, ...given }, OPTIONS)) };
}
