/** The built package, which is what users get, and statements past it. */

import { randomBytes } from "node:crypto";
import pg from "pg";

export const BUILT_POSTGRES = new URL("../../dist/doors/postgres.js", import.meta.url).href;

export const { openPostgresStore }: typeof import("../../src/doors/postgres.ts") = await import(
  BUILT_POSTGRES
);

/** A name that no other store in the same database has. */
export function newSchema(): string {
  return `s${randomBytes(8).toString("hex")}`;
}

export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  return client;
}
