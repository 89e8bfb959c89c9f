/** Entry proof: whether one entry is signed, by which checkpoint and key, and whether it holds. */

import { useEffect, useState } from "preact/hooks";
import type { CheckpointPage, EntryItem } from "../../../src/client/session-shapes.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { faultText } from "../fault-text.ts";
import { browserVerdict } from "../proof/badge.ts";
import { proofOf } from "../proof/proof-store.ts";
import { ownerWords, trustWords } from "../proof/proof-words.ts";
import { fullTimeOf } from "../words.ts";
import { alteredRanges } from "./altered.ts";
import type { SessionStore } from "./session-store.ts";

const REST_MS = 250;

interface ProofProps {
  readonly store: SessionStore;
  readonly item: EntryItem;
  readonly hash: string | null;
}

export function ProofOfEntry({ store, item, hash }: ProofProps) {
  const page = useCheckpoints(store, item);
  const isAltered = alteredRanges(store.id).some(({ from, to }) => {
    return item.start < to && item.end > from;
  });
  return (
    <section>
      <h3>Proof</h3>
      <p class={isAltered ? "tone-bad" : ""}>{sentenceOf(store, item, page, isAltered)}</p>
      <dl>
        {hash !== null && <Fact name="SHA-256" value={hash} />}
        {page !== null && typeof page === "object" && <Covering page={page} item={item} />}
      </dl>
    </section>
  );
}

type Page = CheckpointPage | string | null;

function sentenceOf(store: SessionStore, item: EntryItem, page: Page, isAltered: boolean): string {
  if (isAltered) return "Not as it was signed: something in its turn was altered afterwards.";
  if (page === null) return "…";
  if (typeof page === "string") return page;
  if (page.genesis === null && page.checkpoints.length === 0) return "Nothing here is signed.";
  if (coveringOf(page, item) === undefined) {
    return page.isComplete
      ? "Not signed yet: no checkpoint covers it."
      : "Its checkpoint is far away.";
  }
  const browser = proofOf(store.client, store.id).browser.value;
  if (browser.is === "checking") return "Signed. Your browser is still checking.";
  const verdict = browserVerdict(browser);
  if (verdict === "verified" || verdict === "incomplete" || verdict === "untrusted") {
    return "As it was signed: your browser checked its bytes and the signature over them.";
  }
  return "Signed. Whether that holds, the proof of the session says.";
}

function coveringOf({ checkpoints }: CheckpointPage, { end }: EntryItem) {
  return checkpoints.find(({ covers }) => covers.to >= end);
}

function Covering({
  page,
  item,
}: {
  readonly page: NonNullable<CheckpointPage>;
  readonly item: EntryItem;
}) {
  const covering = coveringOf(page, item);
  if (covering === undefined) return null;
  const { seq, kind, covers, keyId, line } = covering;
  const { hash, ts } = payloadOf(line);
  const key = page.keys.find((each) => each.keyId === keyId);
  const owner = key?.owner ? ` of ${ownerWords(key.owner)}` : "";
  return (
    <>
      <Fact
        name="Checkpoint"
        value={`${seq} (${kind}), over the first ${groupDigits(covers.to)} bytes`}
      />
      {hash !== null && <Fact name="Its hash" value={hash} />}
      {ts !== null && <Fact name="Signed" value={`${fullTimeOf(ts)}, by the signer's clock`} />}
      <Fact name="Key" value={`${keyId}${owner}, ${trustWords(key?.refusal ?? null)}`} />
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="mono">{value}</dd>
    </div>
  );
}

function payloadOf(line: string): { hash: string | null; ts: string | null } {
  try {
    const { payload } = JSON.parse(line) as { payload?: Record<string, unknown> };
    const text = (value: unknown) => (typeof value === "string" ? value : null);
    return { hash: text(payload?.hash), ts: text(payload?.ts) };
  } catch {
    return { hash: null, ts: null };
  }
}

function useCheckpoints({ client, id, window }: SessionStore, { start, end }: EntryItem): Page {
  const [known, learn] = useState<{ readonly start: number; readonly page: Page }>({
    start: -1,
    page: null,
  });
  // A later checkpoint may cover it.
  const logEnd = window.value?.end ?? 0;
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      client.sessions.checkpoints(id, { from: start, to: end }).then(
        (page) => !isOver && learn({ start, page }),
        (cause) =>
          !isOver && learn({ start, page: `Its proof could not be loaded: ${faultText(cause)}` }),
      );
    }, REST_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, id, start, end, logEnd]);
  return known.start === start ? known.page : null;
}
