import { type ClientOptions, createClient } from '@eyrie/client'
import type { Pipeline } from '@eyrie/contract'
import { findLineCrossing } from './line-config.ts'
import { PathRecorder } from './path-recorder.ts'

/** The paths of the objects in the pictures of a pipeline, by id of the source. */
export type RecordedPaths = ReadonlyMap<number, PathRecorder>

/** Creates empty recorders for the sources of a pipeline. */
export function createRecorders({
  sources,
  elements,
}: Pick<Pipeline, 'sources' | 'elements'>): RecordedPaths {
  const args = findLineCrossing(elements)?.args
  return new Map(sources.map(source => [source, new PathRecorder(args)]))
}

export interface WatchOptions {
  /** How long to watch. The time begins with the first frame. */
  seconds: number
  /** Maximum time to wait for the first frame; unlimited by default. */
  maxWaitSeconds?: number
}

/**
 * Watches a pipeline and records the paths of its objects. Resolves when the time is over, when all files of the pipeline
 * have ended, or when the signal of `engine` is aborted. Rejects with `EyrieError`.
 */
export async function watchPaths(
  engine: ClientOptions,
  pipeline: number,
  recorders: RecordedPaths,
  { seconds, maxWaitSeconds }: WatchOptions,
): Promise<void> {
  const end = new AbortController()
  const signal = engine.signal ? AbortSignal.any([engine.signal, end.signal]) : end.signal
  const client = createClient({ ...engine, signal })

  const { channels = [] } = await client.getExports({ filter: ['channels'] })
  const running = new Set(channels.filter(channel => channel.pipeline === pipeline).map(({ id }) => id))
  if (running.size === 0) return

  const endAfter = (duration: number) => setTimeout(() => end.abort(), duration * 1000)
  let timer = maxWaitSeconds === undefined ? undefined : endAfter(maxWaitSeconds)
  let hasStarted = false
  try {
    for await (const message of client.output({ channels: [...running], kinds: ['frame', 'state'] })) {
      if (message.kind === 'hello') {
        // A new run of the engine uses the ids of tracks again.
        for (const recorder of recorders.values()) recorder.interrupt()
        continue
      }
      if (message.kind !== 'frame' && message.kind !== 'state') continue

      const recorder = recorders.get(message.source ?? 0)
      if (message.kind === 'frame') {
        if (!hasStarted) {
          hasStarted = true
          clearTimeout(timer)
          timer = endAfter(seconds)
        }
        recorder?.addFrame(message.pts ?? 0, message.data.objects)
      } else {
        // So does a channel that starts anew.
        if (message.data.state === 'starting') recorder?.interrupt()
        if (message.data.state === 'stopped') running.delete(message.channel ?? 0)
        if (running.size === 0) return
      }
    }
  } finally {
    clearTimeout(timer)
  }
}
