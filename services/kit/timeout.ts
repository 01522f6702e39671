/**
 * Returns the result of `work`, which may be available already. If it takes longer
 * than `timeoutMs`, rejects with an error such as `no answer within 5 s`. The work
 * itself is not aborted.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: T | Promise<T>,
  failure = 'no answer',
): Promise<T> {
  if (!(work instanceof Promise)) return work
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`${failure} within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  try {
    return await Promise.race([work, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
