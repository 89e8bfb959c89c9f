/**
 * Extraction: the version of what the catalog and the search index store of a session's lines.
 *
 * Raise it when an entry of the same log would be stored differently: another title, other roles,
 * other words. It is part of both schemas, so files with an older number are rebuilt from the logs.
 */
export const EXTRACTION = 18;
