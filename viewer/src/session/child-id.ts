/** Child id: the own id of a child session in its store. */

/** HomeAgent's ids include the agent, which its entries may state separately. */
export function childId(isByAgent: boolean, session: string, agent: string | null): string {
  const isBare = isByAgent && !session.includes("/") && agent !== null;
  return isBare ? `${agent}/${session}` : session;
}
