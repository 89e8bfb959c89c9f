/**
 * Entry style: the look of entries, in a page by themselves (style.ts) and in the viewer.
 *
 * Loads nothing (style.ts, SY2), and uses the palette's names for every colour.
 *
 * What is left of a `+` has a class. With `* + x` or `header + x`, each row that comes or goes makes
 * Chromium look for every x in all rows of the viewer; `:where(:not(:first-child))` does not.
 */

import { CALL_STYLE } from "./call-style.ts";
import { type Html, html } from "./markup.ts";

/** All of it is a literal: a value put in here would be a bug (markup.ts). */
export const ENTRY_STYLE: Html = html`
h1, h2, h3, h4, h5, h6, p, dl, dd, ul, ol, pre, blockquote, table { margin: 0; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, pre:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px;
}
pre, code, .session, .model, .preview {
  font-family: var(--mono); font-size: 0.85em;
}
pre code { font-size: 1em; }
pre { overflow: auto; line-height: 1.5; tab-size: 4; max-height: 40rem; }
.facts {
  display: flex; flex-wrap: wrap; gap: 1px; margin-top: 1.25rem;
  overflow: hidden; border: 1px solid var(--line); border-radius: 10px; background: var(--line);
  box-shadow: var(--shadow);
}
.facts div { flex: 1 1 9.75rem; padding: 0.55rem 0.8rem; background: var(--card); }
:is(.facts, .fields) dt { color: var(--dim); font-size: 0.75rem; }
.facts dd { font-size: 0.9rem; font-variant-numeric: tabular-nums; }
.detail { display: block; color: var(--dim); font-size: 0.75rem; }
.status { font-weight: 600; }
.status::before {
  content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-right: 0.45em;
  border-radius: 50%; background: currentColor;
}
.completed { --state: var(--good); }
.error, .failed { --state: var(--bad); }
.running, .paused { --state: var(--wait); }
.status { color: var(--state, inherit); }

.entry, .end {
  --role: var(--system); padding: 0.8rem 1.1rem 0.95rem; border: 1px solid var(--line);
  border-left: 3px solid var(--role);
  position: relative; border-radius: 4px 10px 10px 4px; background: var(--card);
  box-shadow: var(--shadow);
}
.long .entry { content-visibility: auto; contain-intrinsic-size: auto 6rem; }
.by-user { --role: var(--user); }
.by-assistant { --role: var(--assistant); }
.by-tool { --role: var(--tool); }
.by-user { background: var(--user-card); }
.entry.by-assistant:not(.done) {
  padding: 0 0.6rem; border: 0; background: none; box-shadow: none;
}
.entry.by-assistant > :is(.text, .source, .box) { margin-right: 4.5rem; }
.entry.by-assistant:not(.done) > .call { margin-right: -0.6rem; margin-left: -0.6rem; }
.entry.failed { --role: var(--bad); }
.entry > header, .end > header {
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem;
}
:is(.entry, .end) > header h2 { color: var(--role); font-size: 0.85rem; font-weight: 650; }
.model, .time, .since, .used, .at { color: var(--dim); font-size: 0.78rem; }
.time, .since, .used { font-variant-numeric: tabular-nums; }
.at {
  margin-left: auto; padding: 0 0.15rem; text-decoration: none; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
.at:hover { color: var(--link); text-decoration: underline; }
.partial { color: var(--bad); font-size: 0.78rem; font-weight: 600; }
.entry:target, .end:target, .mark:target, .bad:target {
  background-image: linear-gradient(#ffcf3326, #ffcf3326);
}
.entry > :where(:not(:first-child)), .end > :where(:not(:first-child)) { margin-top: 0.6rem; }
.done { padding: 0 !important; border: 0; background: none; box-shadow: none; }
.entry:is(.done, .by-assistant) > header { position: absolute; right: 0.5rem; top: 0.25rem; z-index: 1; }
.entry:is(.done, .by-assistant) > .who + * { margin-top: 0; }
.done > .call + .call { margin-top: 1px; }
.entry:is(.done, .by-assistant) > header :is(h2, .model, .since) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
.done > .box {
  border-left: 3px solid var(--role); border-radius: 4px 8px 8px 4px; box-shadow: var(--shadow);
}
.done > .box { margin-right: 0; }
.done > .who + .box .caption, .done > .who + .caption { padding-right: 6rem; }
.done > .child { padding: 0.1rem 1.1rem; }
.done > footer { padding: 0 1.1rem; }
.entry > footer {
  display: flex; flex-wrap: wrap; gap: 0 0.75rem; color: var(--dim); font-size: 0.78rem;
}
.child, .none { color: var(--dim); font-size: 0.9rem; }

.text { white-space: pre-wrap; }
.text > :where(:not(:first-child)), .text li > :where(:not(:first-child)),
.text blockquote > :where(:not(:first-child)) { margin-top: 0.7em; }
.text ul, .text ol { padding-left: 1.6em; white-space: normal; }
.text li { white-space: pre-wrap; }
.text li:where(:not(:first-child)) { margin-top: 0.2em; }
.text li > ul, .text li > ol { margin-top: 0.2em; }
.text h3 { font-size: 1.2rem; }
.text h4 { font-size: 1.08rem; }
.text h5, .text h6 { font-size: 1rem; }
.text h3, .text h4, .text h5, .text h6 { line-height: 1.35; }
.text :is(h3, h4, h5):where(:not(:first-child)) { margin-top: 1.1em; }
.text code { padding: 0.12em 0.35em; border-radius: 4px; background: var(--soft); }
:is(.by-user, .by-assistant) :is(.text code, .code) { background: var(--card); }
.text blockquote { padding-left: 0.9em; border-left: 3px solid var(--line); color: var(--dim); }
.text hr { height: 1px; border: 0; background: var(--line); }
.code {
  overflow: hidden; border: 1px solid var(--line); border-radius: 6px; background: var(--soft);
}
.code pre { padding: 0.7rem 0.9rem; white-space: pre; }
.code pre code { padding: 0; background: none; }
.lang {
  display: block; padding: 0.2rem 0.9rem; border-bottom: 1px solid var(--line); color: var(--dim);
  font: 0.72rem/1.6 var(--mono);
}
.wide { overflow-x: auto; }
.text table { border-collapse: collapse; font-size: 0.92rem; }
.text :is(th, td) {
  padding: 0.3rem 0.7rem; border: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: normal;
}
.text th { background: var(--soft); }
.right { text-align: right; } .center { text-align: center; }
.href { color: var(--dim); }
.image {
  display: inline-block; padding: 0 0.35em; border: 1px solid var(--line); border-radius: 4px;
  color: var(--dim); font-size: 0.75em;
}
.text, .text :is(p, li, td, th, h3, h4, h5, h6), pre, h1, .piece { unicode-bidi: plaintext; }
.piece { display: inline-block; width: 100%; vertical-align: top; }
pre:has(.piece) { white-space: pre-wrap; }

.box {
  overflow: hidden; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
}
.caption {
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.6rem; padding: 0.35rem 0.75rem;
  background: var(--soft); color: var(--dim); font-size: 0.82rem;
}
.box > pre, .box > .text, .box > .fields {
  padding: 0.65rem 0.85rem; border-top: 1px solid var(--line);
}
.box > .json, .fields pre, .source pre { white-space: pre-wrap; }
.fields { display: grid; grid-template-columns: minmax(4rem, max-content) 1fr; gap: 0.15rem 0.9rem; }
.fields dt { overflow: hidden; max-width: 12rem; font-family: var(--mono); text-overflow: ellipsis; }
.fields dd { min-width: 0; }
.fields .value { font: 0.8rem/1.5 var(--mono); }
.size { font-variant-numeric: tabular-nums; }
.preview {
  flex: 1 1 0; min-width: 8rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap;
}
[open] > summary > .preview { visibility: hidden; }
.box.error { border-color: var(--bad); }
.box.error .caption { background: var(--bad-card); color: var(--bad); font-weight: 600; }
.box.error > pre { background: var(--bad-card); color: var(--bad); white-space: pre-wrap; }
.thinking .text { color: var(--dim); font-size: 0.95em; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; display: inline-block; width: 0.8em; }
[open] > summary::before { content: "▾"; }
summary:hover { color: var(--ink); }
.source { font-size: 0.78rem; color: var(--dim); }
.source summary { width: max-content; }
.source pre {
  margin-top: 0.4rem; padding: 0.65rem 0.85rem; border: 1px dashed var(--line);
  border-radius: 6px; color: var(--ink); font-size: 1em;
}
.json .name { color: var(--name); } .json .string { color: var(--string); }
.json .number { color: var(--number); }

.mark, .bad {
  display: flex; gap: 0.75rem; align-items: baseline; color: var(--dim); font-size: 0.8rem;
}
.mark { padding: 0.1rem 1.1rem; }
.mark p {
  display: flex; flex: 1; gap: 0.75rem; align-items: center; font-variant-numeric: tabular-nums;
}
.mark p::after { content: ""; flex: 1; height: 1px; min-width: 1rem; background: var(--line); }
.bad {
  padding: 0.45rem 1.1rem; border: 1px dashed var(--bad); border-radius: 6px;
  background: var(--bad-card); color: var(--bad);
}
.note { color: var(--dim); font-size: 0.9rem; }
.end { --role: var(--state); }
${CALL_STYLE}
@media (max-width: 34rem) {
  .facts div { flex-basis: 40%; }
  .entry:is(.done, .by-assistant) > header .time { display: none; }
  .entry.by-assistant > :is(.text, .source, .box) { margin-right: 0; }
  .done > .who + .box .caption, .done > .who + .caption { padding-right: 4rem; }
  .entry:not(.by-assistant), .end { padding: 0.65rem 0.75rem 0.8rem; }
  .mark, .bad { padding-left: 0.75rem; padding-right: 0.75rem; }
  .size:has(+ .preview) { display: none; }
}
`;
