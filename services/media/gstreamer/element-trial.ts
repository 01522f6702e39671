import { Pipeline } from '../node-gst/index.ts'

/** Returns the candidates that work on this machine, in the same order. */
export async function filterWorking<Candidate>(
  candidates: readonly Candidate[],
  works: (candidate: Candidate) => Promise<boolean>,
): Promise<Candidate[]> {
  const results = await Promise.all(candidates.map(works))
  return candidates.filter((_, index) => results[index])
}

const TIMEOUT_MS = 5_000

/** Whether a pipeline reaches PAUSED without an error within five seconds. With a sink that prerolls, this requires a buffer. */
export async function prerolls(launch: string): Promise<boolean> {
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
  const limit = setTimeout(fail, TIMEOUT_MS)
  pipeline.setState('paused').then(() => outcome.resolve(true), fail)
  try {
    return await outcome.promise
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}
