/** What one instance knows about the work that all instances share. */
export interface LeaseState {
  /** The instance that decides. */
  instance_id: string
  /** The running instances, including this one. */
  instances: readonly string[]
  /** Everything that one instance does for all. */
  subjects: readonly string[]
  /** The running instance that does it, by subject. */
  holders: ReadonlyMap<string, string>
}

export interface LeaseDecision {
  /** Free subjects to claim. Another instance may be faster. */
  claim: string[]
  /** Subjects to give up, so that another instance can claim its share. */
  release: string[]
}

/**
 * Decides which leases an instance claims and releases. Every instance decides by itself: none
 * takes more than an equal share, rounded up, so that together they take everything, and an
 * instance releases only what exceeds that.
 */
export function decideLeases({
  instance_id: instanceId,
  instances,
  subjects,
  holders,
}: LeaseState): LeaseDecision {
  const share = Math.ceil(subjects.length / Math.max(1, instances.length))
  const held = subjects.filter(subject => holders.get(subject) === instanceId)
  const free = subjects.filter(subject => !holders.has(subject))
  // Instances start at different subjects, because two that claim the same one at the same
  // moment waste an attempt.
  const offset = Math.max(0, instances.indexOf(instanceId)) * share
  const rotated = free.map((_, index) => free[(index + offset) % free.length]!)
  return {
    claim: rotated.slice(0, Math.max(0, share - held.length)),
    release: held.slice(share),
  }
}
