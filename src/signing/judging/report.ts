/**
 * Report: everything that verifying a session found, in the words that users of `--json` read.
 *
 * A public format: fields are added, never renamed. Page: docs/formats/checkpoint.md, "Reports".
 */

import type { ForeignHead, Found } from "../../proof/checkpoint.ts";
import type { LegacyProfile } from "../../proof/envelopes.ts";
import type { Freshness } from "../../proof/pins.ts";
import type { Finding, Verdict } from "../../proof/verdict.ts";

export interface VerifyReport {
  readonly schema: "verbatim.verify/1";
  readonly verdict: Verdict;
  readonly session: string | null;
  readonly dialect: string;
  readonly path: string;
  readonly profile: "v2" | LegacyProfile;
  /** Whether every signature, segment and tree was checked, and not only what decides. */
  readonly deep: boolean;
  readonly file: { readonly bytes: number };
  readonly signed_through: {
    readonly seq: number;
    readonly turn: number;
    /** How many turns there are up to it, the one included that was going on. */
    readonly turns: number;
    readonly byte_offset: number;
    readonly end: number;
    readonly line: string;
    readonly rev: number;
    readonly ts: string;
    /** The key that signed it. */
    readonly kid: string;
  } | null;
  readonly checkpoints: { readonly total: number; readonly valid: number };
  readonly tail: {
    readonly bytes: number;
    readonly lines: number;
    readonly types: Readonly<Record<string, number>>;
  };
  /** Stretches that a signer found unsigned and nobody has vouched for. */
  readonly found: readonly Found[];
  /** The first stretch that is not as it was signed, and the turns in it. */
  readonly bad_range: {
    readonly from: number;
    readonly to: number;
    readonly turns: readonly number[];
  } | null;
  readonly freshness: Freshness;
  readonly log: string | null;
  /** Of a fork, once a trusted signature covers it: the head of its parent that it begins from. */
  readonly from: ForeignHead | null;
  readonly keys: readonly {
    readonly kid: string | null;
    readonly fp: string | null;
    readonly owner: string | null;
    readonly trusted: boolean;
    /** The key that named it as its successor; null when it is trusted by itself, or not at all. */
    readonly rotated_from: string | null;
  }[];
  /** Where another key signs on: `named` by a `rotate` of the one before, or not. */
  readonly rotations: readonly {
    readonly seq: number;
    readonly from: string;
    readonly to: string;
    readonly named: boolean;
  }[];
  /** Sessions that go on from this one, as signed checkpoints say. */
  readonly links: readonly { readonly seq: number; readonly id: string; readonly log: string }[];
  /** What a pin remembers of the log and the log lacks; null unless it was rolled back. */
  readonly missing: {
    readonly seq: number;
    readonly byte_offset: number;
    readonly ts: string;
  } | null;
  readonly findings: readonly {
    readonly code: Finding["code"];
    readonly verdict: Verdict | null;
    readonly byte_offset: number | null;
    readonly turn: number | null;
    readonly message: string;
  }[];
}
