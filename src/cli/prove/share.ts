/** `verbatim share`: makes, lists and revokes links in the server's data directory, or its database. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dataDirectory } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { WithheldPlace } from "../../evidence/redact/copy-writer.ts";
import { Matches } from "../../evidence/redact/text-matches.ts";
import { addShare, createShare } from "../../evidence/share/create-share.ts";
import { followLive } from "../../evidence/share/live-share.ts";
import {
  DEFAULT_REASON,
  type NewShare,
  type Share,
  type ShareCopy,
  type SharedSession,
  type ShareKind,
  type Shares,
  shareState,
  type Withholding,
} from "../../evidence/share/share.ts";
import { FileShares } from "../../evidence/share/share-files.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { isServed, readServedViewer } from "../../server/auth/browser-keys.ts";
import { HOST_DEFAULT, PORT_DEFAULT } from "../../server/serve.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { REASON_CHARS_MAX } from "../../trust/proof/disclosure/statement.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type Run, textOption, textOptions, UsageError, wholeNumber } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { printList, type TableColumn } from "../command/table.ts";
import { databaseUrl } from "../serve/copies.ts";
import { countText } from "../serve/findings-report.ts";
import { expiryOf } from "../serve/tokens.ts";
import { checkMatches, tellPlaces } from "./redact.ts";
import { orVerdictCode } from "./verdict-code.ts";

const NO_RULES = "none";
const DELAY_MAX = 1000;
const DECLINED = Symbol("declined");

export async function runShare(run: Run): Promise<number> {
  const { args, options, io } = run;
  const withholding = withholdingOf(run);
  const delay = wholeNumber("--delay", options.delay, 0, DELAY_MAX);
  const isLive = options.live === true;
  if (delay > 0 && !isLive) throw new UsageError("--delay is for --live");
  const expiresAtMs = expiryOf(textOption("--expires", options.expires), Date.now());
  if (expiresAtMs === null) throw new UsageError("--expires needs a time");
  const base = baseOf(run);
  await checkServer(run);
  return orVerdictCode(io, async () => {
    const session = await sessionNamed(run, args[0] ?? "");
    const request: NewShare = { session, withholding, expiresAtMs, isLive };
    return withShares(run, (shares) => {
      return isLive
        ? shareLive(run, shares, request, base, delay)
        : shareOnce(run, shares, request, base);
    });
  });
}

async function shareOnce(
  run: Run,
  shares: Shares,
  request: NewShare,
  base: string,
): Promise<number> {
  const places: WithheldPlace[] = [];
  const matches = new Matches(request.withholding.texts ?? []);
  const check = async (made: ShareCopy) => {
    if (made.kind === "masked") run.io.err(masksText(request.session));
    tellPlaces(run, places);
    if (!checkMatches(run, matches)) throw DECLINED;
    const until = new Date(request.expiresAtMs).toISOString();
    if (!(await isAgreed(run, `Share ${amountOf(made)}, until ${until}?`))) throw DECLINED;
  };
  const onPlace = (place: WithheldPlace) => void places.push(place);
  try {
    const options = { ...warnings(run), nowMs: Date.now, onPlace, matches, check };
    const { token, share, redacted } = await createShare(nodeHost, shares, request, options);
    const link = `${base}/#/share/${token}`;
    await printLink(run, share, { link, kind: redacted.kind }, amountOf(redacted));
    return 0;
  } catch (cause) {
    if (cause === DECLINED) return EXIT_DECLINED;
    throw cause;
  }
}

async function shareLive(
  run: Run,
  shares: Shares,
  request: NewShare,
  base: string,
  delay: number,
): Promise<number> {
  const { io } = run;
  const rules = request.withholding.rules.join(", ") || NO_RULES;
  const question = `Share ${request.session.id} live: each turn once it is signed, rules: ${rules}?`;
  if (!(await isAgreed(run, question))) return EXIT_DECLINED;
  const { token, share } = await addShare(shares, request, Date.now());
  await printLink(run, share, { link: `${base}/#/share/${token}`, kind: "disclosed" }, "live");
  const end = await followLive(nodeHost, shares, share, request, {
    ...warnings(run),
    delay,
    nowMs: Date.now,
    signal: io.interruption(),
    onShown: (made) => io.err(`shown: ${amountOf(made)}, up to checkpoint ${made.headSeq}`),
  });
  io.err(end === "ended" ? "the share has ended" : `the share stays as it is: ${share.id}`);
  return 0;
}

export async function listShares(run: Run): Promise<number> {
  return withShares(run, async (shares) => {
    const all = await shares.list();
    const nowMs = Date.now();
    if (all.length === 0) run.io.err("there are no shares");
    await printList(run, all, {
      json: (share) => jsonOf(share, nowMs),
      columns: COLUMNS,
      row: (share) => rowOf(share, nowMs),
    });
    return 0;
  });
}

export async function revokeShare(run: Run): Promise<number> {
  const id = run.args[0] ?? "";
  return withShares(run, async (shares) => {
    const share = await shares.revoke(id);
    if (run.options.json === true) await run.io.print(jsonLine(jsonOf(share, Date.now())));
    else run.io.err(`revoked: ${id} (since ${share.revokedAt}); open connections end in a second`);
    return 0;
  });
}

async function withShares(run: Run, work: (shares: Shares) => Promise<number>): Promise<number> {
  const shares = await sharesOf(run);
  try {
    return await work(shares);
  } finally {
    await shares.close();
  }
}

async function sharesOf(run: Run): Promise<Shares> {
  const url = textOption("--store", run.options.store);
  if (url === undefined) return new FileShares(nodeHost, directoryOf(run), Date.now);
  const { ShareTables } = await import("../../evidence/share/share-tables.ts");
  return ShareTables.open(databaseUrl("--store", url), Date.now);
}

/** A link is of use only on the server of this directory. */
async function checkServer(run: Run): Promise<void> {
  if (run.options.store !== undefined) return;
  const directory = directoryOf(run);
  const data = run.options.data === undefined ? "" : ` --data ${directory}`;
  if (!existsSync(directory)) {
    throw new UsageError(
      `there is no data directory ${directory}; name the server's with --data, or start one: ` +
        `verbatim serve${data}`,
    );
  }
  if (await isServed(nodeHost, directory)) return;
  const { onWarning } = warnings(run);
  onWarning(`no server runs on ${directory}: the link works once \`verbatim serve${data}\` does`);
}

function directoryOf({ options }: Run): string {
  return resolve(textOption("--data", options.data) ?? dataDirectory());
}

function baseOf(run: Run): string {
  const urlOption = textOption("--url", run.options.url);
  if (urlOption !== undefined && !/^https?:\/\/[^\s?#]+$/.test(urlOption)) {
    throw new UsageError(
      `--url takes an address such as https://logs.example.com, not ${urlOption}`,
    );
  }
  const served = readServedViewer(directoryOf(run))?.url;
  return (urlOption ?? served ?? `http://${HOST_DEFAULT}:${PORT_DEFAULT}`).replace(/\/+$/, "");
}

async function sessionNamed(run: Run, name: string) {
  const { onWarning } = warnings(run);
  const verifier = await SessionVerifier.open(nodeHost, { where: whereOf(run.options), onWarning });
  const [log, ...others] = await verifier.find([name]);
  if (!log || others.length > 0) throw new UsageError(`${name} is more than one session; name one`);
  const { id } = log;
  if (id === null) throw new UsageError(`${name} is a file outside any store; name a session`);
  const session = { ...log, id };
  if (run.options.live === true) refuseUnsigned(session, await verifier.verify(log));
  return session;
}

/** A live share shows turns once they are signed: of this session it would show nothing. */
function refuseUnsigned(session: SharedSession, { verdict, profile, path }: VerifyReport): void {
  if (verdict !== "unsigned" && profile !== LEGACY_PROFILE) return;
  const reason = "it is not signed, and a live share shows each turn once it is signed";
  const next = `leave out --live to share it masked, as it is now; ${signText(session)}`;
  const message = `${session.id} cannot be shared live: ${reason}; ${next}`;
  throw new VerbatimError("CANNOT_DISCLOSE", message, { path, reason });
}

function withholdingOf({ options }: Run): Withholding {
  const rules = (textOption("--redact", options.redact) ?? "")
    .split(",")
    .map((each) => each.trim());
  const reason = textOption("--reason", options.reason) ?? DEFAULT_REASON;
  if (reason.length > REASON_CHARS_MAX) {
    throw new UsageError(`--reason has at most ${REASON_CHARS_MAX} characters`);
  }
  const entries = textOptions("--entry", options.entry) ?? [];
  return {
    rules: rules.includes(NO_RULES) ? [] : rules,
    texts: textOptions("--match", options.match) ?? [],
    entries: entries.map((each) => wholeNumber("--entry", each, 1)),
    reason,
  };
}

function warnings({ io }: Run) {
  return { onWarning: (warning: string) => io.err(`warning: ${warning}`) };
}

function amountOf({ kind = "disclosed", full, lines, withheld }: CopyAmount): string {
  const strings = withheld.reduce((sum, each) => sum + each.strings, 0);
  const gone = `${countText(strings, "string")} ${kind === "masked" ? "masked" : "withheld"}`;
  return `${full} of ${lines} lines in full, ${gone}`;
}

type CopyAmount = Omit<ShareCopy, "kind"> & Partial<Pick<ShareCopy, "kind">>;

/** What the link shows, and how it could prove more. */
function masksText(session: SharedSession): string {
  const why = `${session.id} is not signed, so the link shows a masked copy`;
  return `not provable: ${why}; ${signText(session)}`;
}

function signText({ id, dialect }: SharedSession): string {
  return dialectNamed(dialect).program
    ? "`verbatim guard --sign` signs copies of such sessions from now on"
    : `to share a copy that proves something, sign it first: verbatim doctor --fix --vouch ${id}`;
}

async function printLink(
  run: Run,
  share: Share,
  { link, kind }: { readonly link: string; readonly kind: ShareKind },
  amount: string,
): Promise<void> {
  const { io, options } = run;
  if (options.json === true) {
    await io.print(jsonLine({ link, kind, ...jsonOf(share, Date.now()) }));
    return;
  }
  io.err(`share ${share.id}: ${amount}, until ${share.expiresAt}`);
  io.err("the link is not stored: copy it now; it works while `verbatim serve` runs");
  io.out(link);
}

const COLUMNS: readonly TableColumn[] = [
  { heading: "ID" },
  { heading: "SESSION", widthMin: 8 },
  { heading: "RULES", widthMin: 8 },
  { heading: "CREATED" },
  { heading: "STATE" },
];

function rowOf(share: Share, nowMs: number): string[] {
  const { id, session, rules, createdAt, expiresAt, revokedAt, isLive } = share;
  const state = shareState(share, nowMs);
  const since = state === "revoked" ? revokedAt : `until ${expiresAt}`;
  const stateText = [isLive && state === "valid" ? "live" : state, since].join(" ");
  return [id, session, rules.join(", "), createdAt, stateText];
}

/** Without the token's hash. */
function jsonOf({ sha256: _, log: __, ...share }: Share, nowMs: number) {
  return { ...share, state: shareState({ ...share, sha256: "" }, nowMs) };
}
