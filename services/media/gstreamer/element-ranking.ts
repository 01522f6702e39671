/**
 * Chooses among interchangeable GStreamer elements. Avoids elements that have failed on this
 * machine.
 */
export interface ElementRanking<Candidate> {
  /**
   * Returns the first candidate that has not failed. Candidates are ordered best first.
   * Undefined for an empty list.
   */
  best(candidates: readonly Candidate[]): Candidate | undefined
  /**
   * Marks a candidate as failed. Returns whether another one remains; otherwise all of them
   * become eligible again.
   */
  markFailed(failed: Candidate, candidates: readonly Candidate[]): boolean
}

export function createElementRanking<Candidate>(): ElementRanking<Candidate> {
  const failures = new Set<Candidate>()
  const hasNotFailed = (candidate: Candidate) => !failures.has(candidate)

  return {
    best: candidates => candidates.find(hasNotFailed) ?? candidates[0],
    markFailed(failed, candidates) {
      failures.add(failed)
      if (candidates.some(hasNotFailed)) return true
      failures.clear()
      return false
    },
  }
}
