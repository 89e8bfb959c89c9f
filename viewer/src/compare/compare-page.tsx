/**
 * Compare page: two sessions side by side: what each was asked, what that took, and what it changed,
 * prompt by prompt.
 */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange } from "../../../src/client/outline-shapes.ts";
import type { SessionHead, SessionItem } from "../../../src/client/session-shapes.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { lengthOf } from "../../../src/render/phrases.ts";
import { compareHref, sessionHref } from "../route.ts";
import { reasonOf, statusOf } from "../server.ts";
import { factsOf, LineCounts, titleOf } from "../session/exchange-words.tsx";
import { Outline } from "../session/outline.ts";
import { SessionCosts, WHOLE } from "../session/session-costs.ts";
import { projectKeyOf } from "../sessions/session-words.ts";
import { costOrRecorded } from "../settings.ts";
import { agoOf, counted, nameOf, shortCount, shortMoney } from "../words.ts";
import { type CompareRow, compareRows, type Side, withoutMarks } from "./compare-rows.ts";
import "./compare.css";

/** Sessions of the same project on a page of the choice. */
const CHOICES = 50;
const PAUSE_MS = 150;
/** Prompts that are shown. */
const ROWS_MAX = 500;

interface CompareProps {
  readonly client: VerbatimClient;
  readonly a: string;
  /** "" for none: it is chosen here. */
  readonly b: string;
}

class ComparedSession {
  readonly id: string;
  readonly head = signal<SessionHead | null>(null);
  readonly fault = signal<string | null>(null);
  readonly outline: Outline;
  readonly costs: SessionCosts;
  readonly #closing = new AbortController();

  constructor(client: VerbatimClient, id: string) {
    this.id = id;
    this.outline = new Outline(client, id, { signal: this.#closing.signal });
    const { totals } = this.outline;
    this.costs = new SessionCosts(client, id, { ...WHOLE, totals }, this.#closing.signal);
    client.sessions.get(id).then(
      (head) => {
        this.head.value = head;
        this.outline.refresh(0);
        void this.costs.load();
      },
      (cause) => {
        const isGone = statusOf(cause) === 404;
        this.fault.value = isGone ? "There is no such session here." : reasonOf(cause);
      },
    );
  }

  close(): void {
    this.#closing.abort();
  }
}

export function ComparePage({ client, a, b }: CompareProps) {
  const left = useCompared(client, a);
  const right = useCompared(client, b);
  useEffect(() => {
    document.title = "Compare · Verbatim";
  }, []);
  return (
    <main id="main" tabIndex={-1} class="page compare-page">
      <h1 class="unseen">Compare two sessions</h1>
      <div class="compare-heads">
        {left !== null && <Head session={left} />}
        {right === null ? (
          <Choice client={client} session={left} />
        ) : (
          <Head session={right} other={compareHref(a)} />
        )}
      </div>
      {left !== null && right !== null && <Rows left={left} right={right} />}
    </main>
  );
}

function useCompared(client: VerbatimClient, id: string): ComparedSession | null {
  const session = useMemo(() => (id === "" ? null : new ComparedSession(client, id)), [client, id]);
  useEffect(() => () => session?.close(), [session]);
  return session;
}

interface HeadProps {
  readonly session: ComparedSession;
  /** The address that chooses another one. */
  readonly other?: string;
}

function Head({ session, other }: HeadProps) {
  const head = session.head.value;
  const fault = session.fault.value;
  if (fault !== null) return <p role="alert">{fault}</p>;
  if (head === null) return <p>…</p>;
  const { outline } = session;
  const total = session.costs.counted.value?.total;
  const isCounted = total !== undefined && total.responses > 0;
  const tokens = isCounted ? total.total : (outline.totals.value?.tokens ?? head.totalTokens);
  const spend = outline.totals.value?.spend ?? head.spend;
  const failures = outline.exchanges.value.sum("failures");
  const facts = [
    head.program,
    head.model,
    counted(outline.exchanges.value.sum("isPrompt"), "prompt"),
    tokens === null ? null : `${shortCount(tokens)} tokens`,
    isCounted ? costOrRecorded(total) : spend === null ? null : shortMoney(spend),
    head.durationMs === null ? null : lengthOf(head.durationMs),
    failures === 0 ? null : `${failures} failed`,
  ];
  return (
    <section>
      <h2>
        <a href={sessionHref(session.id)}>{shownText(nameOf(head))}</a>
      </h2>
      <p>{shownText(facts.filter((fact) => fact !== null).join(" · "))}</p>
      {other !== undefined && <a href={other}>Choose another session</a>}
    </section>
  );
}

/** The other sessions of the same project, the last changed first; the server finds them. */
function Choice(props: {
  readonly client: VerbatimClient;
  readonly session: ComparedSession | null;
}) {
  const { client, session } = props;
  const head = session?.head.value ?? null;
  const [choices, show] = useState<readonly SessionItem[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [title, seek] = useState("");
  const project = head === null ? null : projectKeyOf(head);
  const pageOf = (cursor?: string) => {
    const wanted = { ...(project !== null && { project }), ...(title !== "" && { title }) };
    return client.sessions.list({ ...wanted, limit: CHOICES, ...(cursor && { cursor }) });
  };
  useEffect(() => {
    if (head === null) return;
    let isOver = false;
    const timer = setTimeout(() => {
      pageOf().then(
        (page) => {
          if (isOver) return;
          show(page.sessions);
          setNext(page.next);
        },
        () => !isOver && show([]),
      );
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, head?.id, title]);
  const more = async () => {
    const page = await pageOf(next ?? "");
    show([...(choices ?? []), ...page.sessions]);
    setNext(page.next);
  };
  const others = choices?.filter(({ id }) => id !== head?.id) ?? null;
  return (
    <section>
      <h2>Compare with</h2>
      <input
        type="search"
        aria-label="Title of the other session"
        placeholder="Part of its title"
        value={title}
        onInput={({ currentTarget }) => seek(currentTarget.value)}
      />
      {others === null && <p>…</p>}
      {others?.length === 0 && next === null && <p>There is no other session of this project.</p>}
      <ul class="compare-choices">
        {others?.map((item) => (
          <li key={item.id}>
            <a href={compareHref(session?.id ?? "", item.id)}>{shownText(nameOf(item))}</a>{" "}
            <small>{agoOf(item.modifiedAt, Date.now())}</small>
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="quiet" onClick={() => void more()}>
          Show more
        </button>
      )}
    </section>
  );
}

interface RowsProps {
  readonly left: ComparedSession;
  readonly right: ComparedSession;
}

function Rows({ left, right }: RowsProps) {
  const all = ({ outline, head }: ComparedSession) => ({
    exchanges: outline.exchanges.value.slice(),
    marks: outline.marks.value.slice(),
    project: head.value?.project ?? null,
  });
  const rows = useMemo(
    () => compareRows(all(left), all(right)),
    [left, right].flatMap(({ outline }) => [outline.exchanges.value, outline.marks.value]),
  );
  const share = Math.min(left.outline.share.value, right.outline.share.value);
  return (
    <>
      {share < 1 && <p role="status">Reading the sessions… {Math.floor(share * 100)} %</p>}
      <ol class="compare-rows">
        {rows.slice(0, ROWS_MAX).map((row) => (
          <Row key={row.number} row={row} left={left} right={right} />
        ))}
      </ol>
      {rows.length > ROWS_MAX && <p>and {counted(rows.length - ROWS_MAX, "more prompt")}</p>}
    </>
  );
}

function Row({ row, left, right }: RowsProps & { readonly row: CompareRow }) {
  return (
    <li class={row.isSame ? "compare-row same" : "compare-row"}>
      <Cell side={row.left} session={left} number={row.number} />
      <Cell side={row.right} session={right} number={row.number} />
    </li>
  );
}

function toolWords({ tools }: Exchange): string {
  return tools.map(({ tool, calls }) => (calls === 1 ? tool : `${tool} ×${calls}`)).join(", ");
}

interface CellProps {
  readonly side: Side | null;
  readonly session: ComparedSession;
  readonly number: number;
}

function Cell({ side, session, number }: CellProps) {
  if (side === null) return <div class="compare-cell none">–</div>;
  const { exchange, files } = side;
  return (
    <div class="compare-cell">
      <p>
        {number > 0 && <b>{number}</b>}{" "}
        <a href={sessionHref(session.id, exchange.start)}>{titleOf(exchange)}</a>
      </p>
      <p class="dim">{factsOf(exchange, session.costs.ofPrompt(exchange))}</p>
      {exchange.answer !== null && (
        <p class="compare-answer">
          <a href={sessionHref(session.id, exchange.answerStart)}>Answer</a>{" "}
          {shownText(withoutMarks(exchange.answer))}
        </p>
      )}
      {exchange.tools.length > 0 && <p class="dim">{shownText(toolWords(exchange))}</p>}
      <ul>
        {files.map(({ shown, added, removed, touches }) => (
          <li key={shown}>
            <a href={sessionHref(session.id, touches[0]?.start ?? exchange.start)}>
              {shownText(shown)}
            </a>{" "}
            <LineCounts added={added} removed={removed} />
          </li>
        ))}
      </ul>
    </div>
  );
}
