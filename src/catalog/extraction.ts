/**
 * Extraction: the number of what the catalog and the search index keep of a session's lines.
 *
 * Raise it when an entry of the same log would be kept in another way: another title, other roles,
 * other words. It is part of both schemas, so files with an older number are made again from the logs.
 */
export const EXTRACTION = 5;
