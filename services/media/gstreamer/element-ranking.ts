/** Elements that do the same, best first, of which those that have failed here are passed over. */
export interface ElementRanking<Candidate> {
  /** Undefined only where there are none. */
  best(candidates: readonly Candidate[]): Candidate | undefined
  /** Returns whether another of these is left. Where none is, all get another chance. */
  markFailed(failed: Candidate, candidates: readonly Candidate[]): boolean
}

export function createElementRanking<Candidate>(): ElementRanking<Candidate> {
  const passedOver = new Set<Candidate>()
  const best = (candidates: readonly Candidate[]) =>
    candidates.find(candidate => !passedOver.has(candidate)) ?? candidates[0]

  return {
    best,
    markFailed(failed, candidates) {
      passedOver.add(failed)
      if (candidates.some(candidate => !passedOver.has(candidate))) return true
      passedOver.clear()
      return false
    },
  }
}
