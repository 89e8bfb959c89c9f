/** Session header: the session's facts and actions. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionHead, SessionItem } from "../../../src/client/session-shapes.ts";
import type { CountedSums } from "../../../src/client/usage-shapes.ts";
import { displayTime } from "../../../src/sessions/render/html/entry-html.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits, lengthOf, moneyOf } from "../../../src/sessions/render/phrases.ts";
import { listHref } from "../address.ts";
import { AgentMark } from "../agent-mark.tsx";
import { isConnected } from "../live/lost-banner.tsx";
import { ProofBadge } from "../proof/proof-badge.tsx";
import { isProofBad, ProofBanner } from "../proof/proof-banner.tsx";
import { ProofPanel } from "../proof/proof-panel.tsx";
import { sessionHref } from "../route.ts";
import { isReachable } from "../server.ts";
import { ListButton } from "../sessions/list-column.tsx";
import { isRunning } from "../sessions/session-row.tsx";
import { costOrRecorded, shortCost } from "../settings.ts";
import { ShortText } from "../usage/short-text.tsx";
import {
  countText,
  deletionText,
  erasedText,
  STATUS_WORDS,
  sessionName,
  shortCount,
  shortMoney,
  sizeOf,
} from "../words.ts";
import { ExportMenu } from "./export-menu.tsx";
import { Menu } from "./menu.tsx";
import { ResumeButton } from "./resume-button.tsx";
import { NoteFacts, StarButton } from "./session-notes.tsx";
import type { SessionStore } from "./session-store.ts";
import { ShareDialog } from "./share-dialog.tsx";
import { ToolButton } from "./tool-button.tsx";

interface HeaderProps {
  readonly store: SessionStore;
  readonly search: () => void;
  readonly turns: () => void;
  readonly filter: () => void;
  readonly isFilterShown: boolean;
  readonly help: () => void;
  /** The time axis, at the foot of the bar. */
  readonly children: ComponentChildren;
}

export function SessionHeader(props: HeaderProps) {
  const { store, children } = props;
  const head = store.head.value;
  const { client, id } = store;
  const [isProofShown, showProof] = useState(false);
  const [isSharing, share] = useState(false);
  return (
    <header class="session-head">
      <div class="session-line">
        <ListButton />
        <a class="back" href={listHref.value} aria-label="All sessions" title="All sessions">
          ←
        </a>
        {head !== null && <StarButton store={store} head={head} />}
        <h1 title={head === null ? "" : pageText(sessionName(head))}>
          {head === null ? "…" : pageText(sessionName(head))}
        </h1>
        {head !== null && (
          <Facts head={head} store={store}>
            {store.fate.value === null && (
              <ProofBadge
                client={client}
                id={id}
                end={store.window.value?.end ?? head.end}
                isOpen={isProofShown}
                toggle={() => showProof(!isProofShown)}
              />
            )}
          </Facts>
        )}
        <Tools {...props} share={() => share(true)} />
      </div>
      {children}
      {isSharing && head !== null && (
        <ShareDialog client={client} head={head} close={() => share(false)} />
      )}
      {isProofShown && <ProofPanel client={client} id={id} />}
      {store.fate.value === null && head !== null && (
        <ProofBanner
          client={client}
          id={id}
          isPanelShown={isProofShown}
          details={() => showProof(true)}
          show={(start) => void store.openAt(start)}
        />
      )}
    </header>
  );
}

function Tools(props: HeaderProps & { readonly share: () => void }) {
  const { store, search, turns, filter, isFilterShown, share, help } = props;
  return (
    <div class="session-tools">
      <ToolButton name="Search" icon="search" run={search} keys="/" />
      <ToolButton name="Outline" icon="outline" run={turns} kind="turns-button" />
      <ToolButton
        name="Filter"
        icon="filter"
        run={filter}
        isOn={isFilterShown || store.filter.value.size > 0}
      />
      <ResumeButton command={store.head.value?.resumeCommand ?? null} />
      <ExportMenu store={store} />
      <ToolButton name="Share" icon="share" run={share} />
      <button type="button" class="help-button" onClick={help} aria-label="Keys" title="Keys ( ? )">
        ?
      </button>
    </div>
  );
}

/** Is the session being written, its status, or what became of it: one word, or none. */
function State({ store, head }: { readonly store: SessionStore; readonly head: SessionHead }) {
  const fate = store.fate.value;
  if (fate !== null) {
    return <Fact kind="state error">{fate.state === "moved" ? "Moved" : "Deleted"}</Fact>;
  }
  if (!isConnected.value || !isReachable.value) return <Fact kind="state">Not connected</Fact>;
  if (isRunning(head)) return <Fact kind="state live">Live</Fact>;
  // Next to a bad verdict, nothing looks as if all were well.
  if (head.status === null || isProofBad(store.client, store.id)) return null;
  return <Fact kind={`state ${head.status}`}>{STATUS_WORDS[head.status]}</Fact>;
}

interface FactsProps {
  readonly head: SessionHead;
  readonly store: SessionStore;
  readonly children: ComponentChildren;
}

function Facts({ head, store, children }: FactsProps) {
  const { model, turns, parent } = head;
  const took = tookOf(head);
  // As counted; else the outline's, once it knows all: the head of a long live session is of an
  // earlier moment.
  const total = store.costs.counted.value?.total;
  const isCounted = total !== undefined && total.responses > 0;
  const recorded = store.outline.totals.value ?? { tokens: tokensOf(head), spend: head.spend };
  const tokens = isCounted ? store.costs.tokens.value.total : recorded.tokens;
  const { spend } = recorded;
  const cost = isCounted ? costOrRecorded(total) : spend === null ? null : shortMoney(spend);
  return (
    <div class="session-facts">
      <State store={store} head={head} />
      <Fact>
        <AgentMark label={head.agentLabel} />
        <span class="fact-agent">{pageText(head.agentLabel)}</span>
      </Fact>
      {head.erased && <Fact kind="erased">{pageText(erasedText(head.erased))}</Fact>}
      {head.isKept && <Fact>{deletionText(head)}</Fact>}
      {head.fullerGeneration !== null && (
        <Fact title={`verbatim show ${head.session} --generation ${head.fullerGeneration}`}>
          Generation {head.fullerGeneration}, kept by the guard, holds more
        </Fact>
      )}
      {model !== null && <Fact kind="mono minor">{pageText(model)}</Fact>}
      {tokens !== null && (
        <Fact kind="minor" title={`${groupDigits(Math.round(tokens))} tokens`}>
          {shortCount(tokens)} tokens
        </Fact>
      )}
      {cost !== null && (
        <Fact kind="cost" title={isCounted ? costTitle(total) : moneyOf(spend ?? 0)}>
          {isCounted ? <ShortText text={shortOf(total)} words={cost} /> : cost}
        </Fact>
      )}
      {took !== null && <Fact kind="side">{took}</Fact>}
      {head.hooks !== null && (
        <Fact>
          <a href={sessionHref(head.hooks)}>recorded by hooks</a>
        </Fact>
      )}
      {typeof parent === "string" && (
        <Fact>
          began by <a href={parentHref(store, parent)}>{pageText(parent)}</a>
        </Fact>
      )}
      <Children store={store} turns={turns} />
      <NoteFacts store={store} head={head} />
      {children}
      <More head={head} tokens={tokens} cost={cost} took={took} />
    </div>
  );
}

/** The row of the call that started this session, once it is known; else its session. */
function parentHref({ client, id, threads }: SessionStore, parent: string): string {
  const caller = threads.parent.value;
  if (caller !== null) return sessionHref(caller.id, caller.start);
  return sessionHref(client.sessions.idInSameStore(id, parent));
}

/** How many sessions that this one began are linked. */
const CHILDREN_MAX = 50;

function Children({ store, turns }: { readonly store: SessionStore; readonly turns: number }) {
  const [children, show] = useState<readonly SessionItem[]>([]);
  const { client, id } = store;
  useEffect(() => {
    let isOver = false;
    client.sessions.list({ parent: id, limit: CHILDREN_MAX }).then(
      ({ sessions }) => {
        if (!isOver) show(sessions);
      },
      () => {}, // The page shows faults of the server elsewhere.
    );
    return () => {
      isOver = true;
    };
  }, [client, id, turns]);
  if (children.length === 0) return null;
  return (
    <Menu kind="more-facts" label={countText(children.length, "subagent")}>
      <ul>
        {children.map((child) => (
          <li key={child.id}>
            <a href={sessionHref(child.id)}>{pageText(sessionName(child))}</a>
          </li>
        ))}
      </ul>
    </Menu>
  );
}

interface FactProps {
  readonly kind?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

function Fact({ kind = "", title, children }: FactProps) {
  return (
    <span class={`fact ${kind}`} title={title}>
      {children}
    </span>
  );
}

/** Also the facts that a narrow bar leaves out. */
function More(props: {
  readonly head: SessionHead;
  readonly tokens: number | null;
  readonly cost: string | null;
  readonly took: string | null;
}) {
  const { head, tokens, cost, took } = props;
  const { session, dialect, root, createdAt, updatedAt, lines, badLines, bytes, tornBytes } = head;
  const { repository, directory, branch, agent, model, turns } = head;
  const rows: [string, string | null][] = [
    ["Agent", agent],
    ["Model", model],
    ["Turns", turns === 0 ? null : groupDigits(turns)],
    ["Tokens", tokens === null ? null : groupDigits(Math.round(tokens))],
    ["Cost", cost],
    ["Took", took],
    ["Id", session],
    ["Kind", dialect],
    ["Store", root],
    ["Repository", repository],
    ["Directory", directory],
    ["Branch", branch],
    ["Began", displayTime(createdAt)],
    ["Last entry", displayTime(updatedAt)],
    ["Log", `${sizeOf(bytes)}, ${countText(lines, "line")}`],
    ["Bad lines", badLines === 0 ? null : groupDigits(badLines)],
    ["Torn bytes", tornBytes === 0 ? null : groupDigits(tornBytes)],
  ];
  return (
    <Menu kind="more-facts" label="Details">
      <dl>
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{pageText(value)}</dd>
            </div>
          ),
        )}
      </dl>
    </Menu>
  );
}

const shortOf = (sums: CountedSums) => costOrRecorded(sums, shortCost);

/** What the cost is made of, and what the program recorded itself. */
function costTitle({ recorded, unpriced }: CountedSums): string {
  const missing = unpriced > 0 ? `No price is known for ${groupDigits(unpriced)} tokens. ` : "";
  const own = recorded === null ? "" : `The program recorded ${moneyOf(recorded)}. `;
  return `${missing}${own}As counted by verbatim usage, with subagents.`;
}

function tokensOf({ totalTokens, inputTokens, outputTokens }: SessionHead): number | null {
  if (totalTokens !== null) return totalTokens;
  if (inputTokens === null && outputTokens === null) return null;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

function tookOf({ durationMs, createdAt, updatedAt }: SessionHead): string | null {
  const span = Date.parse(updatedAt ?? "") - Date.parse(createdAt ?? "");
  return lengthOf(typeof durationMs === "number" ? durationMs : span);
}
