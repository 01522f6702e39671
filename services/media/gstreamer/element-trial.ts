import { Pipeline } from '../node-gst/index.ts'

/** Those of these elements that prove to work on this machine, in the same order. */
export async function filterWorking<Candidate>(
  candidates: readonly Candidate[],
  works: (candidate: Candidate) => Promise<boolean>,
): Promise<Candidate[]> {
  const tried = await Promise.all(
    candidates.map(async candidate => ((await works(candidate)) ? [candidate] : [])),
  )
  return tried.flat()
}

const LIMIT_MS = 5_000

/**
 * Whether a pipeline comes to PAUSED without an error and in five seconds. Where a sink waits for a buffer, one must have come
 * all the way.
 */
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
  const limit = setTimeout(fail, LIMIT_MS)
  pipeline.setState('paused').then(() => outcome.resolve(true), fail)
  try {
    return await outcome.promise
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}
