/** Which terminal an agent runs in, by the processes above it. */

/** Return the index of the shell that is nearest among a process and its ancestors; -1 where none is. */
export function nearestAncestor(shells: readonly (number | undefined)[], processes: readonly number[]): number {
  const nearest = processes.find((process) => shells.includes(process));
  return nearest === undefined ? -1 : shells.indexOf(nearest);
}
