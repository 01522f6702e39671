/** Waiting times between attempts: doubling, with jitter, so that many pages do not come back at the same moment. */
export interface Backoff {
  nextMs(): number
  reset(): void
}

const FIRST_MS = 500
const MOST_MS = 10_000

export function createBackoff(random: () => number): Backoff {
  let attempts = 0
  return {
    nextMs() {
      const full = Math.min(MOST_MS, FIRST_MS * 2 ** attempts++)
      return Math.round(full * (0.5 + random() / 2))
    },
    reset() {
      attempts = 0
    },
  }
}
