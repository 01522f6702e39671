import { Pipeline } from '../node-gst/index.ts'

/** Those of these elements that prove to work on this machine, in the same order. */
export async function thoseThatWork<Candidate>(
  candidates: readonly Candidate[],
  works: (candidate: Candidate) => Promise<boolean>,
): Promise<Candidate[]> {
  const tried = await Promise.all(
    candidates.map(async candidate => ((await works(candidate)) ? [candidate] : [])),
  )
  return tried.flat()
}

const LIMIT_MS = 5_000

/** Whether a pipeline comes to PAUSED, or plays to its end, without an error and in five seconds. */
export async function plays(launch: string, { to }: { to: 'paused' | 'eos' }): Promise<boolean> {
  const done = Promise.withResolvers<boolean>()
  let pipeline: Pipeline
  try {
    pipeline = new Pipeline(launch, ({ type }) => {
      if (type === 'eos') done.resolve(true)
      if (type === 'error') done.resolve(false)
    })
  } catch {
    return false
  }
  const limit = setTimeout(() => done.resolve(false), LIMIT_MS)
  const reached = pipeline.setState(to === 'eos' ? 'playing' : 'paused').then(
    () => to === 'paused' || done.promise,
    () => false,
  )
  try {
    return await Promise.race([reached, done.promise])
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}
