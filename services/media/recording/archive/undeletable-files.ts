/** The number of files that could not be deleted, and why the first one could not. */
export interface UndeletableFiles {
  files: number
  error: Error
}

/** Remembers the files that retention could not delete, so that it does not try again at once. */
export interface DeletionFailures {
  /** Returns whether the file has failed so recently that it is not to be tried now. */
  hasJustFailed(file: string): boolean
  add(file: string, error: Error): void
  /** Must be called when a file has been deleted. */
  remove(file: string): void
  /** Returns undefined if there are none. */
  summarize(): UndeletableFiles | undefined
}

/** Time after which a file is tried again. */
const RETRY_MS = 60_000
/** A file that has not been tried for this time need no longer be deleted. */
const EXPIRY_MS = 3_600_000

/** `now` returns a monotonic time in ms. */
export function createDeletionFailures(now: () => number): DeletionFailures {
  const failures = new Map<string, { error: Error; atMs: number }>()

  function removeExpired() {
    for (const [file, { atMs }] of failures) {
      if (now() - atMs >= EXPIRY_MS) failures.delete(file)
    }
  }

  return {
    hasJustFailed(file) {
      const failure = failures.get(file)
      return failure !== undefined && now() - failure.atMs < RETRY_MS
    },
    // A file that fails again keeps its place, so that the reason remains the same.
    add: (file, error) => void failures.set(file, { error, atMs: now() }),
    remove: file => void failures.delete(file),
    summarize() {
      removeExpired()
      const [first] = failures.values()
      return first && { files: failures.size, error: first.error }
    },
  }
}
