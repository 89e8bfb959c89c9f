/**
 * Nested thread: what a subagent did, below the call that started it: the same rows, loaded when the
 * call is unfolded, a page at a time. Its own session is linked.
 */

import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionThread } from "../../../src/client/outline-shapes.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { isUsageRepeated } from "../../../src/core/model/usage-once.ts";
import type { PageLinks } from "../../../src/sessions/render/html/entry-html.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { faultText } from "../fault-text.ts";
import { sessionHref } from "../route.ts";
import { BARE_ROW, EntryRow, LoadedCalls, type MountBelowRow } from "./entry-row.tsx";
import { ThreadStore } from "./threads.ts";

const PAGE_ENTRIES = 50;
/** Threads in threads; deeper ones are only linked. */
const DEPTH_MAX = 4;

interface PlaceProps {
  /** Of the session that has the call. */
  readonly threads: ThreadStore;
  readonly start: number;
  readonly callId: string;
  readonly project: string | null;
  readonly depth: number;
}

/** Puts the thread of a call below its row. */
export function mountThreads(
  threads: ThreadStore,
  project: string | null,
  depth = 1,
): MountBelowRow {
  return ({ start, entry, tools }, index, place) => {
    const parts = entry?.parts ?? [];
    const part = parts[index];
    if (part?.type !== "tool_call" || part.callId === null) return null;
    const before = parts.slice(0, index).filter(({ type }) => type === "tool_call").length;
    if (tools[before]?.kind !== "agent") return null;
    const { callId } = part;
    render(
      <ThreadOf threads={threads} start={start} callId={callId} project={project} depth={depth} />,
      place,
    );
    return () => render(null, place);
  };
}

function ThreadOf(props: PlaceProps) {
  const thread = props.threads.of(props.start, props.callId);
  if (thread === null || (thread.session === null && thread.rows === 0)) return null;
  return <Nested {...props} thread={thread} key={thread.session ?? ""} />;
}

function Nested({
  threads,
  thread,
  project,
  depth,
}: PlaceProps & { readonly thread: SessionThread }) {
  const { session } = thread;
  const id = session ?? threads.id;
  const { items, next, fault, load } = useRows(threads, thread, depth);
  const inner = useInner(threads, session);
  const mount = useMemo(() => mountThreads(inner, project, depth + 1), [inner, project, depth]);
  const calls = useMemo(() => new LoadedCalls(items), [items]);
  const entries = useMemo(() => items.map(({ entry }) => entry), [items]);
  const links = useMemo<PageLinks>(
    () => ({ toEntry: (_line, start) => sessionHref(id, start), toSession: () => null }),
    [id],
  );
  return (
    <section class="thread" aria-label="Subagent">
      <p class="thread-head">
        Subagent
        {session !== null && <a href={sessionHref(session)}>Open its session</a>}
        {thread.title !== null && <span>{pageText(thread.title)}</span>}
      </p>
      {items.map((item, n) => (
        <EntryRow
          key={item.start}
          item={item}
          calls={calls}
          pairing={calls.pairingOf(item)}
          links={links}
          project={project}
          isUsageRepeated={isUsageRepeated(entries, n)}
          mount={mount}
          {...BARE_ROW}
        />
      ))}
      {fault !== null && <p role="alert">{fault}</p>}
      {next !== null && items.length > 0 && (
        <button type="button" class="quiet" onClick={() => void load(next)}>
          Show more of the subagent
        </button>
      )}
    </section>
  );
}

/** The rows of a thread, a page at a time. `next`: where the next page begins; null at the end. */
function useRows({ client, id: ofCall }: ThreadStore, thread: SessionThread, depth: number) {
  const { session, callId, rows } = thread;
  const id = session ?? ofCall;
  const [items, setItems] = useState<readonly EntryItem[]>([]);
  const [next, setNext] = useState<number | null>(0);
  const [fault, setFault] = useState<string | null>(null);
  const load = async (from: number) => {
    const call = session === null ? { call: callId } : {};
    try {
      const range = { from, limit: PAGE_ENTRIES, native: false, ...call };
      const page = await client.sessions.entries(id, range);
      setItems((loaded) => [...loaded.filter(({ start }) => start < from), ...page.entries]);
      setNext(page.isAtEnd ? null : page.next);
      setFault(null);
    } catch (cause) {
      setFault(faultText(cause));
    }
  };
  // Rows that come into the same log later are loaded, too.
  useEffect(() => {
    if (depth <= DEPTH_MAX && items.length < PAGE_ENTRIES) void load(0);
  }, [id, session === null ? rows : 0]);
  return { items, next, fault, load };
}

/** The threads of the subagent's own session. */
function useInner(threads: ThreadStore, session: string | null): ThreadStore {
  const made = useMemo(() => {
    const closing = new AbortController();
    const inner =
      session === null ? threads : new ThreadStore(threads.client, session, closing.signal);
    return { inner, closing };
  }, [threads, session]);
  useEffect(() => {
    if (session !== null) void made.inner.refresh();
    return () => made.closing.abort();
  }, [made]);
  return made.inner;
}
