/**
 * Guarded dialect: lists and reads the guard's copies of a program's sessions, here or received,
 * like those that the program has.
 */

import type { Host } from "../../core/base/host.ts";
import type { Dialect } from "../dialect.ts";
import type { FindLogsOptions } from "../find.ts";
import { guardedPlace } from "./guard-store.ts";
import { goneLog, goneLogs, guardedHost, lookAtFile } from "./guarded.ts";
import { isRowsRoot, rowsHost, rowsLogs } from "./received-rows.ts";

export function withGuarded<Name extends string>(dialect: Dialect<Name>): Dialect<Name> {
  const logsIn = (root: string, options: FindLogsOptions) => {
    if (isRowsRoot(root, dialect)) return rowsLogs(root, dialect);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.naming.layout.logsIn?.(root, options) ?? null)
      : goneLogs(place, dialect);
  };
  const lookAt = (root: string, path: string) => {
    if (isRowsRoot(root, dialect)) return lookAtFile(root, path);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.naming.layout.lookAt ?? lookAtFile)(root, path)
      : goneLog(place, path);
  };
  const hostFor = (host: Host, root: string) => {
    const place = guardedPlace(root);
    if (place !== null) return guardedHost(host, place, dialect);
    if (isRowsRoot(root, dialect)) return rowsHost(host, root, dialect);
    return dialect.files?.hostFor?.(host, root) ?? host;
  };
  const { naming, files } = dialect;
  return {
    ...dialect,
    naming: { ...naming, layout: { ...naming.layout, logsIn, lookAt } },
    files: { ...files, hostFor },
  };
}
