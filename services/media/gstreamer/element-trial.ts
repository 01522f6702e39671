import { Pipeline } from '../node-gst/index.ts'

const TIMEOUT_MS = 5_000

/**
 * Returns the candidates, such as names of GStreamer elements, that work on this
 * machine, in the same order.
 */
export async function filterWorking<Candidate>(
  candidates: readonly Candidate[],
  isWorking: (candidate: Candidate) => Promise<boolean>,
): Promise<Candidate[]> {
  const results = await Promise.all(candidates.map(isWorking))
  return candidates.filter((_, index) => results[index])
}

/**
 * Whether a pipeline reaches the state PAUSED, in which all its elements are initialized, within
 * five seconds. A sink with `async=true` requires a first buffer for that.
 */
export async function canReachPaused(launch: string): Promise<boolean> {
  const outcome = Promise.withResolvers<boolean>()
  const fail = () => outcome.resolve(false)

  let pipeline: Pipeline
  try {
    pipeline = new Pipeline(launch, ({ type }) => {
      if (type === 'error') fail()
    })
  } catch {
    return false
  }

  const timeout = setTimeout(fail, TIMEOUT_MS)
  pipeline.setState('paused').then(() => outcome.resolve(true), fail)
  try {
    return await outcome.promise
  } finally {
    clearTimeout(timeout)
    await pipeline.dispose()
  }
}
