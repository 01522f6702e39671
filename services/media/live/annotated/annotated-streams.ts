import type { HostedStream } from '@eyrie/contract'
import type { Source } from '../../sources/source.ts'
import type { AnnotatedStream } from './annotated-stream.ts'

/**
 * Creates and closes annotated streams, which are live views with the results of the analysis drawn
 * into the picture, as the engine requests.
 */
export interface AnnotatedStreams {
  /**
   * Creates and closes streams as configured. Must be called after the sources were configured,
   * which may replace a source.
   */
  apply(configured: readonly HostedStream[]): Promise<void>
  get(name: string): AnnotatedStream | undefined
  list(): AnnotatedStream[]
  stop(): Promise<void>
}

export function createAnnotatedStreams(
  findSource: (id: number) => Source | undefined,
  create: (name: string, source: Source) => AnnotatedStream,
): AnnotatedStreams {
  const streams = new Map<string, AnnotatedStream>()

  async function remove(stream: AnnotatedStream) {
    streams.delete(stream.name)
    await stream.close()
  }

  const list = () => [...streams.values()]

  return {
    async apply(configured) {
      const sources = new Map(configured.map(({ name, source }) => [name, findSource(source)]))

      const obsolete = list().filter(({ name, source }) => sources.get(name) !== source)
      await Promise.all(obsolete.map(remove))

      for (const [name, source] of sources) {
        if (source && !streams.has(name)) streams.set(name, create(name, source))
      }
    },

    get: name => streams.get(name),

    list,

    async stop() {
      await Promise.all(list().map(remove))
    },
  }
}
