/**
 * Server metrics: their names and meanings, in Prometheus' text format 0.0.4. docs/server.md lists
 * them; a test compares.
 *
 * Counting adds to a number: it allocates nothing and never waits. Labels come from our own lists,
 * never from a request, so that the answer stays small.
 */

import { readdirSync } from "node:fs";
import type { BatchReport } from "../../streams/commit/committer.ts";

/** Seconds: from a sync of a fast disk to a long-poll. */
const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** The kind of a request, for metrics and logs. */
export type RouteName = "stream" | "live" | "subscriptions" | "sessions" | "operations" | "other";

/** Current values. */
export interface Moments {
  readonly connections: () => number;
  readonly inFlight: () => number;
  readonly bodyBytes: () => number;
  readonly answerBytes: () => number;
  readonly liveReaders: () => number;
  readonly eventFeeds: () => number;
  readonly isWritable: () => boolean;
}

export class ServerMetrics {
  readonly #requests = new Counter(
    "verbatim_http_requests_total",
    "Requests that were answered, by route, method and status.",
  );
  readonly #errors = new Counter("verbatim_errors_total", "Refusals and faults, by code.");
  readonly #broken = new Counter(
    "verbatim_http_broken_requests_total",
    "Input that was not HTTP, too slow or incomplete, by reason.",
  );
  readonly #refusedConnections = new Counter(
    "verbatim_connections_refused_total",
    "Connections past the limit.",
  );
  readonly #received = new Counter("verbatim_append_bytes_total", "Bytes that were appended.");
  readonly #appends = new Counter("verbatim_appends_total", "Appends that were acknowledged.");
  readonly #syncs = new Counter("verbatim_syncs_total", "Syncs of the journal.");
  readonly #batches = new Histogram(
    "verbatim_batch_requests",
    "Requests that shared a sync of the journal.",
    SIZES,
  );
  readonly #commits = new Histogram(
    "verbatim_commit_duration_seconds",
    "From the taking of a batch to its answers.",
    SECONDS,
  );
  readonly #durations = {
    append: new Histogram(
      "verbatim_append_duration_seconds",
      "POST to a stream, until it is answered.",
      SECONDS,
    ),
    other: new Histogram(
      "verbatim_request_duration_seconds",
      "All other requests but live reads, until they are answered.",
      SECONDS,
    ),
  };
  /** Set by `startServer`. */
  recoverySeconds = 0;

  request(route: RouteName, method: string, status: number, seconds: number): void {
    this.#requests.add(1, `{route="${route}",method="${method}",status="${status}"}`);
    if (route === "live") return; // A live read lasts as long as its reader wants.
    const isAppend = route === "stream" && method === "POST";
    this.#durations[isAppend ? "append" : "other"].observe(seconds);
  }

  error(code: string): void {
    this.#errors.add(1, `{code="${code}"}`);
  }

  broken(reason: "malformed" | "timeout" | "too-large" | "broken-off" | "pipelined"): void {
    this.#broken.add(1, `{reason="${reason}"}`);
  }

  refusedConnection(): void {
    this.#refusedConnections.add(1);
  }

  appended(bytes: number): void {
    this.#appends.add(1);
    this.#received.add(bytes);
  }

  batch({ requests, hasSynced, seconds }: BatchReport): void {
    if (hasSynced) this.#syncs.add(1);
    this.#batches.observe(requests);
    this.#commits.observe(seconds);
  }

  /** `more`: of other parts of the server. */
  text(moments: Moments, more: readonly Metric[] = []): string {
    const counted: readonly Metric[] = [
      this.#requests,
      this.#durations.append,
      this.#durations.other,
      this.#errors,
      this.#broken,
      this.#refusedConnections,
      this.#appends,
      this.#received,
      this.#syncs,
      this.#batches,
      this.#commits,
    ];
    return metricsText([...counted, ...this.#now(moments), ...more, ...ofProcess()]);
  }

  #now(moments: Moments): readonly Metric[] {
    return [
      new Gauge("verbatim_connections", "Open connections.", moments.connections),
      new Gauge("verbatim_requests_in_flight", "Unanswered requests.", moments.inFlight),
      new Gauge("verbatim_body_bytes", "Bytes of incomplete bodies.", moments.bodyBytes),
      new Gauge("verbatim_answer_bytes", "Bytes of answers held for readers.", moments.answerBytes),
      new Gauge("verbatim_live_readers", "Readers that wait for data.", moments.liveReaders),
      new Gauge("verbatim_event_feeds", "Streams that are read by events.", moments.eventFeeds),
      new Gauge("verbatim_writable", "1 while appends are accepted.", () =>
        moments.isWritable() ? 1 : 0,
      ),
      new Gauge(
        "verbatim_recovery_seconds",
        "How long opening the data took.",
        () => this.recoverySeconds,
      ),
    ];
  }
}

/** The names that most programs use. */
function ofProcess(): readonly Metric[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const cpu = new Counter("process_cpu_seconds_total", "User and system time.");
  cpu.add((user + system) / 1e6);
  const startedSeconds = performance.timeOrigin / 1000;
  return [
    cpu,
    new Gauge("process_start_time_seconds", "Since the epoch.", () => startedSeconds),
    new Gauge("process_resident_memory_bytes", "Resident memory.", () => rss),
    new Gauge("nodejs_heap_used_bytes", "Used heap.", () => heapUsed),
    new Gauge("nodejs_external_memory_bytes", "Memory outside the heap.", () => external),
    new Gauge("process_open_fds", "Open descriptors.", openDescriptorCount),
  ];
}

/** Open descriptors, including the one used to count them; 0 where the system has no /proc. */
function openDescriptorCount(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0; // Shown in metrics only.
  }
}

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Appends the metric's lines to `into`. */
export interface Metric {
  write(into: string[]): void;
}

/** Counts up, one number for each set of labels (`{route="stream"}`), or one without any. */
export class Counter implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge";
  readonly #values = new Map<string, number>();

  /** A gauge has values that were counted elsewhere. */
  constructor(name: string, help: string, type: "counter" | "gauge" = "counter") {
    this.#name = name;
    this.#help = help;
    this.#type = type;
  }

  /** One with the values of these labels alone. */
  only(isShown: (labels: string) => boolean): Counter {
    const some = new Counter(this.#name, this.#help, this.#type);
    for (const [labels, value] of this.#values) if (isShown(labels)) some.add(value, labels);
    return some;
  }

  add(value: number, labels = ""): void {
    this.#values.set(labels, (this.#values.get(labels) ?? 0) + value);
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, this.#type);
    if (this.#values.size === 0 && this.#type === "counter") into.push(`${this.#name} 0`);
    for (const [labels, value] of this.#values) into.push(`${this.#name}${labels} ${value}`);
  }
}

/** A value computed when it is read. */
class Gauge implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #value: () => number;

  constructor(name: string, help: string, value: () => number) {
    this.#name = name;
    this.#help = help;
    this.#value = value;
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, "gauge");
    into.push(`${this.#name} ${this.#value()}`);
  }
}

/** Counts values at or below each bound. */
class Histogram implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  /** One more than there are bounds: for values above all of them. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    (this.#counts[at] as number)++;
    this.#sum += value;
  }

  write(into: string[]): void {
    head(into, this.#name, this.#help, "histogram");
    let total = 0;
    for (const [at, count] of this.#counts.entries()) {
      total += count;
      into.push(`${this.#name}_bucket{le="${this.#bounds[at] ?? "+Inf"}"} ${total}`);
    }
    into.push(`${this.#name}_sum ${this.#sum}`, `${this.#name}_count ${total}`);
  }
}

export function metricsText(metrics: readonly Metric[]): string {
  const lines: string[] = [];
  for (const metric of metrics) metric.write(lines);
  return `${lines.join("\n")}\n`;
}

function head(into: string[], name: string, help: string, type: string): void {
  into.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
}
