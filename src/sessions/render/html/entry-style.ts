/**
 * Entry style: the look of entries, in a page by themselves (style.ts) and in the viewer.
 *
 * Loads nothing (style.ts, SY2), and uses the palette's names for every colour.
 *
 * What is left of a `+` has a class. With `* + x` or `header + x`, each row that comes or goes makes
 * Chromium look for every x in all rows of the viewer; `:where(:not(:first-child))` does not.
 */

import { type Html, html } from "./markup.ts";

/** All of it is a literal: a value put in here would be a bug (markup.ts). */
const CALL_STYLE: Html = html`
.call { border-radius: 6px; font-size: 0.82rem; }
.call > summary, p.call {
  display: flex; gap: 0.5rem; align-items: center; min-height: 28px; padding: 0 0.6rem;
  border-radius: 6px; color: var(--dim); line-height: 1.3;
}
.call > summary::before { content: none; }
.done > details.box:not([open]) { border-color: transparent; background: none; box-shadow: none; }
.done > details.box > summary { min-height: 28px; padding: 0.15rem 0.6rem; background: none; }
.done > details.box > summary:hover { background: var(--soft); }
.call > summary:hover, .call[open] > summary { background: var(--soft); color: var(--ink); }
.call > summary, p.call { padding-right: 5.5rem; }
.call .icon {
  flex: none; width: 16px; height: 16px; background: var(--tool);
  clip-path: path(evenodd, "M8 2l6 6-6 6-6-6zM8 5l3 3-3 3-3-3z");
}
.kind-command > summary > .icon, .kind-command > .icon {
  clip-path: path("M2 3l4.5 5L2 13l-1.2-1.1L4.3 8 .8 4.1zM8 12h7v1.6H8z");
}
.kind-read > summary > .icon, .kind-read > .icon {
  clip-path: path(evenodd, "M3 1h7l3 3v11H3zM5 6.5h6V8H5zM5 10h6v1.5H5z");
}
.kind-write > summary > .icon, .kind-write > .icon {
  clip-path: path(
    evenodd, "M3 1h7l3 3v11H3zM7.3 6h1.4v2.3H11v1.4H8.7V12H7.3V9.7H5V8.3h2.3z"
  );
}
.kind-edit > summary > .icon, .kind-edit > .icon {
  clip-path: path("M11.5 1.5l3 3L6 13l-4 1 1-4z");
}
.kind-search > summary > .icon, .kind-search > .icon {
  clip-path: path(
    evenodd,
    "M6.5 1a5.5 5.5 0 1 0 3.3 9.9l3.9 3.9 1.1-1.1-3.9-3.9A5.5 5.5 0 0 0 6.5 1zM6.5 2.6a3.9 3.9 0 1 1 0 7.8 3.9 3.9 0 0 1 0-7.8z"
  );
}
.kind-list > summary > .icon, .kind-list > .icon {
  clip-path: path("M1 3h5l1.5 2H15v8.5H1z");
}
.kind-plan > summary > .icon, .kind-plan > .icon {
  clip-path: path(
    "M1 3.5l1-1 1.2 1.2L5.5 1.4l1 1-3.3 3.3zM8 3h7v1.5H8zM8 7.5h7V9H8zM8 12h7v1.5H8zM2 7.2h3v2.1H2zM2 11.7h3v2.1H2z"
  );
}
.kind-agent > summary > .icon, .kind-agent > .icon {
  clip-path: path(
    "M4 1a2 2 0 1 1 0 4a2 2 0 1 1 0-4zM3.3 5h1.4v6H3.3zM4 11a2 2 0 1 1 0 4a2 2 0 1 1 0-4zM12 3a2 2 0 1 1 0 4a2 2 0 1 1 0-4zM11.3 7h1.4c0 3-2 4-8 4V9.7c5 0 6.6-.7 6.6-2.7z"
  );
}
.kind-fetch > summary > .icon, .kind-fetch > .icon {
  clip-path: path("M7.2 1h1.6v7l2.6-2.6 1.1 1.1L8 11 3.5 6.5l1.1-1.1L7.2 8zM2 12.5h12V14H2z");
}
.kind-web-search > summary > .icon, .kind-web-search > .icon {
  clip-path: path(
    evenodd,
    "M8 1a7 7 0 1 1 0 14A7 7 0 1 1 8 1zM8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM2.6 7.3h10.8v1.4H2.6z"
  );
}
.kind-mcp > summary > .icon, .kind-mcp > .icon {
  clip-path: path(
    "M5 1h1.5v4h3V1H11v4h1.5v3a4.5 4.5 0 0 1-3.7 4.4V15H7.2v-2.6A4.5 4.5 0 0 1 3.5 8V5H5z"
  );
}
.call.failed .icon { background: var(--bad); }
.verb {
  flex: none; max-width: min(24rem, 45%); overflow: hidden; color: var(--ink); font-weight: 600;
  text-overflow: ellipsis; white-space: nowrap; }
.kind-command .verb { color: var(--dim); font-family: var(--mono); }
.call .subject, .call .path { min-width: 0; font-family: var(--mono); font-size: 0.95em; }
.call .subject {
  flex: 0 1 auto; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
}
.kind-command .subject { color: var(--ink); }
.call .path { display: flex; flex: 0 1 auto; white-space: nowrap; }
.folder { flex: 0 1 auto; min-width: 0; overflow: hidden; color: var(--dim); text-overflow: ellipsis; }
.path .name {
  flex: none; max-width: 100%; overflow: hidden; color: var(--ink); text-overflow: ellipsis;
}
.call .plus { flex: none; color: var(--good); } .call .minus { flex: none; color: var(--bad); }
.call .plus, .call .minus, .took, .call .note {
  flex: none; font-size: 0.92em; font-variant-numeric: tabular-nums; white-space: nowrap;
}
.call .state {
  flex: 0 1 auto; min-width: 3rem; overflow: hidden; color: var(--bad); font-weight: 600;
  text-overflow: ellipsis; white-space: nowrap;
}
.took { margin-left: auto; }
.inside {
  margin: 2px 0 0.5rem 0.85rem; padding-left: 0.9rem; border-left: 2px solid var(--line);
}
.inside > :where(:not(:first-child)) { margin-top: 0.4rem; }
.inside :is(.input, .output, .error) > pre, .between > pre {
  padding: 0.45rem 0.7rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--card); color: var(--ink); white-space: pre-wrap;
}
.inside .error > pre { border-color: var(--bad); background: var(--bad-card); color: var(--bad); }
.inside .input > .fields { padding: 0.35rem 0.1rem; }
.inside .text { padding: 0.3rem 0; color: var(--ink); font-size: 0.95rem; }
.between > summary { color: var(--dim); font-size: 0.95em; }
.between > pre { margin: 0.3rem 0; }
.plan { padding: 0.2rem 0; list-style: none; color: var(--ink); font-size: 0.88rem; }
.step { padding-left: 1.6em; text-indent: -1.6em; }
.step::before { content: "☐"; display: inline-block; width: 1.6em; text-indent: 0; color: var(--dim); }
.step-finished { color: var(--dim); }
.step-finished::before { content: "☑"; color: var(--good); }
.step-current { font-weight: 600; } .step-current::before { content: "▸"; color: var(--link); }
.step-dropped { color: var(--dim); text-decoration: line-through; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
.picture .size { color: var(--dim); font-size: 0.8rem; }
.picture > summary::before { content: none; }
.picture > summary { display: inline-block; cursor: zoom-in; }
.picture[open] > summary { cursor: zoom-out; }
.picture img {
  display: block; max-width: min(100%, 24rem); max-height: 14rem; border: 1px solid var(--line);
  border-radius: 6px; background: var(--soft);
}
.picture[open] img { max-width: 100%; max-height: none; }

.file {
  padding: 0.3rem 0.7rem; border: 1px solid var(--line); border-bottom: 0;
  border-radius: 6px 6px 0 0; background: var(--soft); font: 0.8rem/1.5 var(--mono);
}
.diff {
  padding: 0.25rem 0; border: 1px solid var(--line); border-radius: 0 0 6px 6px;
  background: var(--card); white-space: pre-wrap;
}
.diff:not(.file + .diff) { border-radius: 6px; }
.diff + .diff { margin-top: 0.3rem; }
.change { display: contents; }
:is(.diff, .change, .lines) > span:not(.change) {
  display: block; position: relative; padding: 0 0.85rem 0 4.2rem; text-indent: -0.9em;
}
:is(.diff, .change, .lines) > span:not(.change)::before {
  content: attr(data-n); position: absolute; left: 0; width: 2.6rem; color: var(--dim);
  text-align: right; text-indent: 0;
}
.lines > span { padding-left: 3.3rem; text-indent: 0; }
.diff .gone { background: var(--gone); } .diff .new { background: var(--new); }
.diff .place { padding-left: 3.3rem; color: var(--dim); text-indent: 0; }
.diff mark { border-radius: 2px; background: var(--gone-word); color: inherit; }
.diff .new mark { background: var(--new-word); }

.front-red, .front-bright-red { color: var(--red); }
.back-red, .back-bright-red { background: var(--red); color: var(--card); }
.front-green, .front-bright-green { color: var(--green); }
.back-green, .back-bright-green { background: var(--green); color: var(--card); }
.front-yellow, .front-bright-yellow { color: var(--yellow); }
.back-yellow, .back-bright-yellow { background: var(--yellow); color: var(--card); }
.front-blue, .front-bright-blue { color: var(--blue); }
.back-blue, .back-bright-blue { background: var(--blue); color: var(--card); }
.front-magenta, .front-bright-magenta { color: var(--magenta); }
.back-magenta, .back-bright-magenta { background: var(--magenta); color: var(--card); }
.front-cyan, .front-bright-cyan { color: var(--cyan); }
.back-cyan, .back-bright-cyan { background: var(--cyan); color: var(--card); }
.front-black, .front-white, .front-bright-white { color: inherit; }
.front-bright-black, .faint { color: var(--dim); }
.back-black, .back-bright-black { background: var(--line); }
.back-white, .back-bright-white, .inverse { background: var(--ink); color: var(--card); }
.bold { font-weight: 700; } .italic { font-style: italic; }
.underline { text-decoration: underline; } .struck { text-decoration: line-through; }
@media (max-width: 34rem) {
  .call > summary, p.call { padding-right: 0.6rem; }
}
`;

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
.text .task { margin-left: -1.3em; list-style: none; }
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
  .entry:is(.done, .by-assistant) > header :is(.time, .at) { display: none; }
  .entry.by-assistant > :is(.text, .source, .box) { margin-right: 0; }
  .done > .who + .box .caption, .done > .who + .caption { padding-right: 4rem; }
  .entry:not(.by-assistant), .end { padding: 0.65rem 0.75rem 0.8rem; }
  .mark, .bad { padding-left: 0.75rem; padding-right: 0.75rem; }
  .size:has(+ .preview) { display: none; }
}
`;
