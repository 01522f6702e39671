import { type Client, type ClientOptions, createClient } from '@eyrie/client'
import type { OutputQuery, Pipeline } from '@eyrie/contract'
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
  /** How long to watch, from the first frame on. */
  seconds: number
  /** Maximum time to wait for the first frame; unlimited by default. */
  maxWaitSeconds?: number
}

/**
 * Watches a pipeline and records the paths of its objects. Resolves when the time is over,
 * when all files of the pipeline have ended, or when the signal of `engine` is aborted.
 * Rejects with `EyrieError`.
 */
export async function watchPaths(
  engine: ClientOptions,
  pipeline: number,
  recorders: RecordedPaths,
  { seconds, maxWaitSeconds }: WatchOptions,
): Promise<void> {
  const deadline = new Deadline()
  const signal = engine.signal ? AbortSignal.any([engine.signal, deadline.signal]) : deadline.signal
  const client = createClient({ ...engine, signal })
  const runningChannels = await findChannels(client, pipeline)
  if (runningChannels.size === 0) return

  if (maxWaitSeconds !== undefined) deadline.set(maxWaitSeconds)
  let hasStarted = false
  try {
    const query: OutputQuery = { channels: [...runningChannels], kinds: ['frame', 'state'] }
    for await (const message of client.output(query)) {
      if (message.kind === 'hello') {
        // If the engine was restarted, the id of a track may now belong to another object.
        for (const recorder of recorders.values()) recorder.interrupt()
      } else if (message.kind === 'frame') {
        // The maximum wait ends with the first frame, and the time to watch begins.
        if (!hasStarted) deadline.set(seconds)
        hasStarted = true
        findRecorder(recorders, message)?.addFrame(message.pts ?? 0, message.data.objects)
      } else if (message.kind === 'state') {
        const { state } = message.data
        // A channel that starts has a new tracker, which uses the ids again for other objects.
        if (state === 'starting') findRecorder(recorders, message)?.interrupt()
        if (state === 'stopped' && message.channel !== null) runningChannels.delete(message.channel)
        if (runningChannels.size === 0) return
      }
    }
  } finally {
    deadline.clear()
  }
}

/** Returns the ids of the channels of a pipeline. */
async function findChannels(client: Client, pipeline: number): Promise<Set<number>> {
  const { channels = [] } = await client.getExports({ filter: ['channels'] })
  return new Set(channels.filter(channel => channel.pipeline === pipeline).map(({ id }) => id))
}

const findRecorder = (recorders: RecordedPaths, { source }: { source: number | null }) =>
  source === null ? undefined : recorders.get(source)

/** A signal that is aborted after a time. Each call of `set` replaces the time. */
class Deadline {
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  set(seconds: number): void {
    this.clear()
    this.#timer = setTimeout(() => this.#controller.abort(), seconds * 1000)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
