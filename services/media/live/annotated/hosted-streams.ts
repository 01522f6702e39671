import type { HostedStream } from '@eyrie/contract'
import type { Source } from '../../sources/source.ts'
import type { Hosted } from './hosted-stream.ts'

/** The annotated streams that are wanted, by their names. */
export interface HostedStreams {
  /** To be called when the sources are as they are wanted: a stream is begun again where its source was. */
  apply(wanted: readonly HostedStream[]): Promise<void>
  get(name: string): Hosted | undefined
  all(): Hosted[]
  stop(): Promise<void>
}

export function createHostedStreams(
  sourceOf: (id: number) => Source | undefined,
  create: (name: string, source: Source) => Hosted,
): HostedStreams {
  const streams = new Map<string, Hosted>()

  async function remove(hosted: Hosted) {
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
