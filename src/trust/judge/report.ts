/**
 * Report: everything that verifying a session found, in the field names of `--json`.
 *
 * A public format: fields are added, never renamed. Page: docs/formats/checkpoint.md, "Reports".
 */

import type { Erasure } from "../../core/model/erasure.ts";
import type { FoundRange, SignedHead } from "../proof/checkpoint.ts";
import type { CheckpointProfile } from "../proof/envelopes.ts";
import type { Freshness } from "../proof/pins.ts";
import type { Finding, Verdict } from "../proof/verdict.ts";

export interface VerifyReport {
  readonly schema: "verbatim.verify/1";
  readonly verdict: Verdict;
  readonly session: string | null;
  readonly dialect: string;
  readonly path: string;
  readonly profile: "v2" | CheckpointProfile;
  /** Whether every signature, segment and tree was checked, and not only those that decide. */
  readonly deep: boolean;
  readonly file: { readonly bytes: number };
  readonly signed_through: {
    readonly seq: number;
    readonly turn: number;
    /** Turns up to this checkpoint, including an unfinished one. */
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
  /** Ranges that a signer found unsigned and that no one has vouched for. */
  readonly found: readonly FoundRange[];
  /** The first range that differs from what was signed, and its turns. */
  readonly bad_range: {
    readonly from: number;
    readonly to: number;
    readonly turns: readonly number[];
  } | null;
  readonly freshness: Freshness;
  readonly log: string | null;
  /** Of a fork, once a trusted signature covers it: the head of its parent where it begins. */
  readonly from: SignedHead | null;
  /** Erasures that signed lines state, first one first: text that was in the session is gone. */
  readonly erasures: readonly Erasure[];
  readonly keys: readonly {
    readonly kid: string | null;
    readonly fp: string | null;
    readonly owner: string | null;
    readonly trusted: boolean;
    /**
     * The key that named this one as its successor; null if it is trusted directly, or not at all.
     */
    readonly rotated_from: string | null;
  }[];
  /** Where another key continues to sign: `named` by a `rotate` of the previous key, or not. */
  readonly rotations: readonly {
    readonly seq: number;
    readonly from: string;
    readonly to: string;
    readonly named: boolean;
  }[];
  /** Sessions that continue from this one, according to signed checkpoints. */
  readonly links: readonly { readonly seq: number; readonly id: string; readonly log: string }[];
  /** What the pin records and the log lacks; null unless it was rolled back. */
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
