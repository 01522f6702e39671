/** Resolves to the result of `work`. Rejects with `<failure> within <ms> s` if it takes longer than `ms`. */
export async function withTimeout<T>(ms: number, work: T | Promise<T>, failure = 'no answer'): Promise<T> {
  if (!(work instanceof Promise)) return work
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${failure} within ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
