import type { HostedStream } from '@eyrie/contract'
import type { Source } from '../../sources/source.ts'
import type { AnnotatedStream } from './annotated-stream.ts'

/** The annotated streams that are wanted, by their names. */
export interface AnnotatedStreams {
  /** To be called when the sources are as they are wanted: a stream is begun again where its source was. */
  apply(wanted: readonly HostedStream[]): Promise<void>
  get(name: string): AnnotatedStream | undefined
  all(): AnnotatedStream[]
  stop(): Promise<void>
}

export function createAnnotatedStreams(
  sourceOf: (id: number) => Source | undefined,
  create: (name: string, source: Source) => AnnotatedStream,
): AnnotatedStreams {
  const streams = new Map<string, AnnotatedStream>()

  async function remove(hosted: AnnotatedStream) {
    streams.delete(hosted.name)
    await hosted.close()
  }

  return {
    async apply(wanted) {
      const sources = new Map(wanted.map(({ name, source }) => [name, sourceOf(source)]))
      const gone = [...streams.values()].filter(({ name, source }) => sources.get(name) !== source)
      await Promise.all(gone.map(remove))
      for (const [name, source] of sources)
        if (source && !streams.has(name)) streams.set(name, create(name, source))
    },
    get: name => streams.get(name),
    all: () => [...streams.values()],
    async stop() {
      await Promise.all([...streams.values()].map(remove))
    },
  }
}
