/** Limits of the sessions API: the size of answers, and how many are computed at once. */

const MIB = 1024 * 1024;

export interface SessionLimits {
  /** Sessions per page: the default and the maximum. */
  readonly sessionsDefault: number;
  readonly sessionsMax: number;
  /** Rows examined for one page; a filter that skips more gives a shorter page. */
  readonly rowsExaminedMax: number;
  /** Entries per page: the default and the maximum. */
  readonly entriesDefault: number;
  readonly entriesMax: number;
  /** Bytes of lines in one page of entries, or of the log in one answer; at least one line. */
  readonly bytesMax: number;
  /** Bytes of all answers held in memory until their readers take them. */
  readonly answersBytesMax: number;
  readonly checkpointsMax: number;
  /** How far past the requested bytes to look for checkpoints that cover them. */
  readonly searchedBytesMax: number;
  /** Answers computed from logs at once, and requests that may wait for that. */
  readonly readersMax: number;
  readonly waitingMax: number;
  /** Whole sessions read at once, to verify or summarise them. */
  readonly wholeReadersMax: number;
  /** Requests that follow a session or receive a whole document. */
  readonly followersMax: number;
  /** How long the first page waits until changed sessions are read. */
  readonly listWaitMs: number;
  /** How long after a scan for changed sessions the next may begin. */
  readonly freshMs: number;
  /** A log longer than this is summarised when it is idle, not while it is written. */
  readonly restingBytes: number;
  readonly restMs: number;
  /** Entries per page of a search: the default and the maximum. */
  readonly hitsDefault: number;
  readonly hitsMax: number;
  /** Entries examined for one page; filters that skip more give a shorter page. */
  readonly entriesExaminedMax: number;
  /** How long a search waits until changed sessions are indexed. */
  readonly searchWaitMs: number;
  /** Sessions and prompts in a usage answer: the default and the maximum. */
  readonly usageListedDefault: number;
  readonly usageListedMax: number;
  /** Agents, projects and models in a usage answer, each; and tools. */
  readonly usageGroupsMax: number;
  readonly usageToolsMax: number;
  /** How long a usage answer waits until changed sessions are counted. */
  readonly usageWaitMs: number;
  /** Prompts and marks per page of an outline: the default and the maximum. */
  readonly outlineDefault: number;
  readonly outlineMax: number;
  /** How long a request waits for an outline that is being computed. */
  readonly outlineWaitMs: number;
  /** Values that a scan found, in one answer. */
  readonly findsMax: number;
  /** Outlines kept in memory. */
  readonly outlinesMax: number;
}

export const SESSION_LIMITS: SessionLimits = {
  sessionsDefault: 50,
  sessionsMax: 200,
  rowsExaminedMax: 5_000,
  entriesDefault: 50,
  entriesMax: 500,
  bytesMax: 4 * MIB,
  answersBytesMax: 256 * MIB,
  checkpointsMax: 1_000,
  searchedBytesMax: 64 * MIB,
  readersMax: 16,
  waitingMax: 256,
  wholeReadersMax: 2,
  followersMax: 256,
  listWaitMs: 2_000,
  freshMs: 1_000,
  restingBytes: 8 * MIB,
  restMs: 60_000,
  hitsDefault: 20,
  hitsMax: 100,
  entriesExaminedMax: 10_000,
  searchWaitMs: 500,
  usageListedDefault: 10,
  usageListedMax: 500,
  usageGroupsMax: 1_000,
  usageToolsMax: 500,
  usageWaitMs: 500,
  outlineDefault: 2_000,
  outlineMax: 10_000,
  findsMax: 1_000,
  outlineWaitMs: 400,
  outlinesMax: 16,
};
