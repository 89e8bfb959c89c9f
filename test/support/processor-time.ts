/**
 * Processor time: how long work takes that must not take long, whatever else the machine does. The
 * files of one process run one after the other, so this is the work's own time.
 */

/** The milliseconds that the processor worked. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
