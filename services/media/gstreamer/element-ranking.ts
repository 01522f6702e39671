/** Chooses among interchangeable elements, best first, skipping elements that have failed on this machine. */
export interface ElementRanking<Candidate> {
  /** Undefined only if there are no candidates. */
  best(candidates: readonly Candidate[]): Candidate | undefined
  /** Returns whether another candidate remains. If none does, all become eligible again. */
  markFailed(failed: Candidate, candidates: readonly Candidate[]): boolean
}

export function createElementRanking<Candidate>(): ElementRanking<Candidate> {
  const failures = new Set<Candidate>()
  const best = (candidates: readonly Candidate[]) =>
    candidates.find(candidate => !failures.has(candidate)) ?? candidates[0]

  return {
    best,
    markFailed(failed, candidates) {
      failures.add(failed)
      if (candidates.some(candidate => !failures.has(candidate))) return true
      failures.clear()
      return false
    },
  }
}
