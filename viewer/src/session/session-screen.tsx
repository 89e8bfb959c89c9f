/** Session screen: one session: its header, its transcript, the rail, its actions. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { PageLinks } from "../../../src/sessions/render/html/entry-html.ts";
import { GoneBanner } from "../live/gone-banner.tsx";
import { isProofBad } from "../proof/proof-banner.tsx";
import { sessionHref } from "../route.ts";
import { client, isReachable, isTokenWanted } from "../server.ts";
import { stepSession } from "../sessions/session-steps.ts";
import { childId } from "./child-id.ts";
import { onRowAction } from "./copy.ts";
import { formatFilter, parseFilter } from "./filter.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { InnerSearch } from "./inner-search.tsx";
import { Inspector } from "./inspector.tsx";
import { useKeys } from "./keys.ts";
import { openPicture } from "./lightbox.ts";
import { OutlinePanel } from "./outline-panel.tsx";
import { Rail } from "./rail.tsx";
import { ReadingPosition } from "./reading.ts";
import { CurrentPrompt, FilterBar } from "./reading-bar.tsx";
import { areFindsMarked } from "./session-finds.ts";
import { SessionHeader } from "./session-header.tsx";
import { Missing, NewEntries, Notice, Unopened } from "./session-states.tsx";
import { SessionStore } from "./session-store.ts";
import { TimeAxis } from "./time-axis.tsx";
import { Transcript } from "./transcript.tsx";
import { toggleWrap } from "./wrap.ts";

interface ScreenProps {
  readonly id: string;
  readonly at: number | null;
  readonly q: string;
  /** The filter, as in the address. */
  readonly f: string;
}

/** What is open or unfolded on the screen. */
interface View {
  readonly thinking: boolean;
  readonly isAll: boolean;
  readonly isExpanded: boolean;
  readonly isSearching: boolean;
  readonly isHelpShown: boolean;
  readonly areTurnsShown: boolean;
  readonly isFilterShown: boolean;
}

const CLOSED: View = {
  thinking: false,
  isAll: false,
  isExpanded: false,
  isSearching: false,
  isHelpShown: false,
  areTurnsShown: false,
  isFilterShown: false,
};

export function SessionScreen({ id, at, q, f }: ScreenProps) {
  const server = client.value;
  const store = useStore(server, id);
  const reading = useMemo(() => new ReadingPosition(store), [store]);
  const [view, setView] = useState<View>({
    ...CLOSED,
    isSearching: q !== "",
    isFilterShown: f !== "" || areFindsMarked.peek(),
  });
  const change = (part: Partial<View>) => setView((before) => ({ ...before, ...part }));
  const toggle = (part: keyof View) => setView((before) => ({ ...before, [part]: !before[part] }));
  useFilterAndPlace(store, reading, at, f);
  useEffect(() => () => store.close(), [store]);
  const head = store.head.value;
  useEffect(() => {
    document.title = `${head?.title ?? head?.session ?? "Session"} · Verbatim`;
  }, [head?.title, head?.session]);
  const links = useLinks(store, f);
  useScreenKeys(store, reading, { view, change, toggle });
  const fault = store.fault.value;
  if (head?.isMissing && store.window.value === null) return <Missing session={head.session} />;
  if (fault !== null) return <Unopened {...fault} fate={store.fate.value} />;
  return (
    <main
      id="main"
      tabIndex={-1}
      class={isProofBad(server, id) ? "page session-page distrusted" : "page session-page"}
    >
      <SessionHeader
        store={store}
        search={() => toggle("isSearching")}
        turns={() => toggle("areTurnsShown")}
        filter={() => toggle("isFilterShown")}
        isFilterShown={view.isFilterShown}
        help={() => change({ isHelpShown: true })}
      >
        <TimeAxis store={store} reading={reading} />
      </SessionHeader>
      <GoneBanner store={store} />
      {view.isSearching && (
        <InnerSearch store={store} q={q} at={at} close={() => change({ isSearching: false })} />
      )}
      <SessionBody
        store={store}
        reading={reading}
        links={links}
        at={at}
        view={view}
        change={change}
      />
      <Notice store={store} />
      {view.isHelpShown && <HelpDialog close={() => change({ isHelpShown: false })} />}
    </main>
  );
}

/** A new one when the server can show what it could not: it was away, or refused access. */
function useStore(server: VerbatimClient, id: string): SessionStore {
  const [attempt, setAttempt] = useState(0);
  const store = useMemo(() => new SessionStore(server, id), [server, id, attempt]);
  const isServed = isReachable.value && !isTokenWanted.value;
  useEffect(() => {
    if (isServed && [0, 401].includes(store.fault.peek()?.status ?? -1)) setAttempt(attempt + 1);
  }, [isServed]);
  return store;
}

interface BodyProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  readonly links: PageLinks;
  readonly at: number | null;
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
}

/** The outline, the transcript, the rail and the inspector, next to each other. */
function SessionBody({ store, reading, links, at, view, change }: BodyProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons within are reached by keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above.
    <div
      class="session-body"
      onClick={(event) => {
        onRowAction(event, store);
        openPicture(event);
      }}
      onFocusIn={(event) => inspectFocused(event, store)}
    >
      <OutlinePanel
        store={store}
        reading={reading}
        isShown={view.areTurnsShown}
        hide={() => change({ areTurnsShown: false })}
      />
      <div class="session-middle">
        <FilterBar
          store={store}
          isExpanded={view.isExpanded}
          expand={(isExpanded) => change({ isExpanded })}
          isShown={view.isFilterShown}
          at={at}
        />
        <div class="transcript-place">
          <CurrentPrompt store={store} reading={reading} />
          <Transcript
            store={store}
            reading={reading}
            links={links}
            thinking={view.thinking || store.filter.value.has("thinking")}
            isExpanded={view.isExpanded}
            isAll={view.isAll}
            at={at}
          />
        </div>
        <NewEntries store={store} />
      </div>
      <Rail store={store} reading={reading} />
      <Inspector
        store={store}
        reading={reading}
        close={() => {
          store.isInspecting.value = false;
        }}
      />
    </div>
  );
}

/** Opens the session, and follows the filter and the place in the address. */
function useFilterAndPlace(
  store: SessionStore,
  reading: ReadingPosition,
  at: number | null,
  f: string,
) {
  const [opened, setOpened] = useState<SessionStore | null>(null);
  useEffect(() => {
    const filter = parseFilter(f);
    const isOther = formatFilter(filter) !== formatFilter(store.filter.peek());
    if (opened !== store) {
      setOpened(store);
      store.filter.value = filter;
      store.isInspecting.value = matchMedia(WIDE).matches;
      void store.open(at);
    } else if (isOther) {
      void store.choose(filter, at ?? (store.isFollowing ? null : reading.visible.peek().from));
    } else if (at !== null) void store.openAt(at);
  }, [store, at, f]);
}

function useLinks(store: SessionStore, f: string): PageLinks {
  // Depends on the dialect only: other links would render every row again, and fold what was
  // unfolded.
  const isByAgent = store.head.value?.dialect === "homeagent";
  return useMemo<PageLinks>(
    () => ({
      toEntry: (_line, start) => store.hrefOf(start),
      toSession: (session, agent) => {
        const { sessions } = store.client;
        return sessionHref(sessions.idInSameStore(store.id, childId(isByAgent, session, agent)));
      },
    }),
    [isByAgent, store, f],
  );
}

interface ViewChanges {
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
  readonly toggle: (part: keyof View) => void;
}

function useScreenKeys(
  store: SessionStore,
  reading: ReadingPosition,
  { view, change, toggle }: ViewChanges,
): void {
  const { isSearching, areTurnsShown } = view;
  const isLeavable = isSearching || areTurnsShown || store.isInspecting.value;
  useKeys(
    {
      next: () => reading.step(1),
      previous: () => reading.step(-1),
      nextTurn: () => reading.toPrompt(1),
      previousTurn: () => reading.toPrompt(-1),
      nextSession: () => void stepSession(store.id, 1),
      previousSession: () => void stepSession(store.id, -1),
      start: () => void store.toStart(),
      end: () => void store.toEnd(),
      thinking: () => toggle("thinking"),
      inspect: () => inspectCurrent(store, reading),
      expand: () => toggle("isExpanded"),
      wrap: toggleWrap,
      fold: () => foldIn(reading.current()),
      all: () => toggle("isAll"),
      search: () => change({ isSearching: true }),
      leave: () => {
        if (!isSearching && !areTurnsShown) store.isInspecting.value = false;
        change({ isSearching: false, areTurnsShown: false });
      },
      help: () => change({ isHelpShown: true }),
    },
    isLeavable,
  );
}

/** Opens the inspector with the row being read, or closes it if it shows that row. */
function inspectCurrent(store: SessionStore, reading: ReadingPosition): void {
  const start = Number(reading.current()?.dataset.start ?? Number.NaN);
  const isOn = store.isInspecting.value && store.inspected.value === start;
  store.isInspecting.value = !isOn;
  store.inspected.value = isOn || Number.isNaN(start) ? null : start;
}

/** Wide enough for the inspector to be open from the start. */
const WIDE = "(min-width: 128rem)";

/** The inspector shows the row that has the focus, so that keys step through entries in it. */
function inspectFocused({ target }: Event, store: SessionStore): void {
  if (!store.isInspecting.peek() || !(target instanceof HTMLElement)) return;
  if (!target.matches(".entries > .row")) return;
  store.inspected.value = Number(target.dataset.start);
}

/** Unfolds everything in an entry; or folds it, when all is unfolded. */
function foldIn(row: HTMLElement | null): void {
  const all = Array.from(row?.querySelectorAll<HTMLDetailsElement>("details.box") ?? []);
  const isAnyFolded = all.some(({ open }) => !open);
  for (const details of all) details.open = isAnyFolded;
}
