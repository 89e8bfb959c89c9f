/** Child id: the own id of a session that another one began, as its store knows it. */

/** HomeAgent names a session by its agent, too, and its entries may tell the two apart. */
export function childId(isByAgent: boolean, session: string, agent: string | null): string {
  const isBare = isByAgent && !session.includes("/") && agent !== null;
  return isBare ? `${agent}/${session}` : session;
}
