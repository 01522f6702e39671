/** What `work` comes to, unless it takes longer than `ms`: then an error that says so, beginning with `lacking`. */
export async function withTimeout<T>(ms: number, work: T | Promise<T>, lacking = 'no answer'): Promise<T> {
  if (!(work instanceof Promise)) return work
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${lacking} within ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
