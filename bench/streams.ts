/**
 * `npm run bench -- streams`: our server against the reference server of the Durable Streams protocol
 * (@durable-streams/server, file store), on the same disk, with the same client, alternately.
 */

import { runBench, say } from "./measure/frame.ts";
import { type Bound, compared, memory, type Result } from "./measure/result.ts";
import { measureLimits } from "./streams/limits.ts";
import { type Amounts, type Both, type Figures, measureRound } from "./streams/round.ts";
import { measureSigning } from "./streams/signed.ts";

const FULL: Amounts = {
  rounds: 3,
  slices: 5,
  sliceMs: 1000,
  streams: 10_000,
  longBytes: 100e6,
  catchUps: 3,
  tails: 50,
  readers: 100,
  messages: 100,
};
const QUICK: Amounts = {
  rounds: 1,
  slices: 3,
  sliceMs: 500,
  streams: 1000,
  longBytes: 20e6,
  catchUps: 1,
  tails: 20,
  readers: 100,
  messages: 20,
};

await runBench("streams", async ({ directory, isQuick }) => {
  const amounts = isQuick ? QUICK : FULL;
  const rounds: Both<Figures>[] = [];
  for (let round = 1; round <= amounts.rounds; round++) {
    say(`round ${round} of ${amounts.rounds}`);
    rounds.push(await measureRound(directory, amounts));
  }
  return [
    ...resultsOf(rounds, amounts),
    ...(await measureSigning(directory, amounts)),
    ...(await measureLimits(directory, amounts)),
  ];
});

function resultsOf(
  rounds: readonly Both<Figures>[],
  { streams, longBytes, readers }: Amounts,
): Result[] {
  const of = (name: string, unit: string, bound: Bound, figure: (of: Figures) => number) =>
    compared(
      name,
      rounds.map(({ ours }) => figure(ours)),
      rounds.map(({ reference }) => figure(reference)),
      unit,
      bound,
    );
  const long = `${longBytes / 1e6} MB`;
  const perSecond = (connections: 1 | 32 | 128, atLeast: number) =>
    of(`durable appends, one stream, ${connections} connections`, "/s", { atLeast }, (figures) => {
      return figures.perSecond[connections];
    });
  return [
    perSecond(1, 3),
    perSecond(32, 10),
    perSecond(128, 10),
    of("p99 of an append, 32 connections", "ms", { atMost: 1 / 5 }, (f) => f.p99At32),
    of("server CPU per append, 32 connections", "ms", { atMost: 1 / 5 }, (f) => f.cpuMsAt32),
    of(`2xx appends to ${streams} streams`, "/s", { atLeast: 5 }, (f) => f.manyPerSecond),
    of("  the same, whatever was answered", "/s", null, (f) => f.manyAnswersPerSecond),
    count("  refused of them, ours", rounds, (round) => round.ours.manyErrors, { atMost: 0 }),
    count("  refused of them, reference", rounds, (round) => round.reference.manyErrors, null),
    of(`catch-up of ${long}`, "MB/s", { atLeast: 10 }, (f) => f.catchUpPerSecond),
    of("  its first byte", "ms", { atMost: 1 / 50 }, (f) => f.firstByteMs),
    of("  memory meanwhile", "MB", { atMost: 1 / 3 }, (f) => f.peakMegabytes),
    of(`one new message at the end of ${long}`, "ms", { atMost: 1 / 30 }, (f) => f.tailMs),
    of(`delivery to ${readers} readers, p50`, "ms", { atMost: 1 / 5 }, (f) => f.eventP50),
    of(`delivery to ${readers} readers, p99`, "ms", { atMost: 1 / 5 }, (f) => f.eventP99),
    count("  not delivered, ours", rounds, ({ ours }) => ours.eventsMissing, { atMost: 0 }),
    of(`restart after kill -9, ${streams} streams`, "ms", { atMost: 1 / 3 }, (f) => f.restartMs),
  ];
}

function count(
  name: string,
  rounds: readonly Both<Figures>[],
  figure: (round: Both<Figures>) => number,
  bound: Bound,
): Result {
  return { ...memory(name, rounds.map(figure), bound), unit: "" };
}
