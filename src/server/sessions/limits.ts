/** Limits of the sessions API: how much one answer holds, and how many are made at once. */

const MIB = 1024 * 1024;

export interface SessionLimits {
  /** Sessions in one page of the list, unless asked for fewer or more; and the most. */
  readonly sessionsDefault: number;
  readonly sessionsMax: number;
  /** Rows that are looked at for one page; a filter that passes over more gives a shorter page. */
  readonly rowsExaminedMax: number;
  /** Entries in one page, unless asked for fewer or more; and the most. */
  readonly entriesDefault: number;
  readonly entriesMax: number;
  /** Bytes of lines in one page of entries, or of the log in one answer; at least one line is. */
  readonly bytesMax: number;
  /** Bytes of answers that wait for their readers to take them, all together. */
  readonly answersBytesMax: number;
  readonly checkpointsMax: number;
  /** How far checkpoints are looked for past the bytes that they cover. */
  readonly searchedBytesMax: number;
  /** Answers that are made from logs at once, and requests that may wait for their turn. */
  readonly readersMax: number;
  readonly waitingMax: number;
  /** Whole sessions that are read at once: to verify, to sum up. */
  readonly wholeReadersMax: number;
  /** Requests that are sent the entries of a session as they come, or a whole document. */
  readonly followersMax: number;
  /** How long the first page waits for sessions that changed to be read. */
  readonly listWaitMs: number;
  /** How long after one look for changed sessions the next may be. */
  readonly freshMs: number;
  /** A log longer than this is not summed up again while it is written, but when it rests. */
  readonly restingBytes: number;
  readonly restMs: number;
  /** Entries in one page of a search, unless asked for fewer or more; and the most. */
  readonly hitsDefault: number;
  readonly hitsMax: number;
  /** Entries that are looked at for one page; filters that pass over more give a shorter page. */
  readonly entriesExaminedMax: number;
  /** How long a search waits for sessions that changed to be indexed. */
  readonly searchWaitMs: number;
  /** Rows of an answer about usage: days, models and agents; and tools. */
  readonly usageRowsMax: number;
  readonly usageToolsMax: number;
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
  usageRowsMax: 5_000,
  usageToolsMax: 500,
};
