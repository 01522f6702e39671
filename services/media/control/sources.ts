import { isDeepStrictEqual } from 'node:util'
import type { DesiredSource } from '@eyrie/contract'
import type { Source } from '../ingest/source.ts'

export type Identity = Pick<DesiredSource, 'id' | 'type' | 'address' | 'decoder' | 'pacing'>

/** The sources that are wanted, each of which is left alone unless it itself changes. */
export interface Sources {
  apply(wanted: readonly DesiredSource[]): Promise<void>
  get(id: number): Source | undefined
  all(): Source[]
  /** Nobody reads any more; live views go on. */
  removeViews(): Promise<void>
  stop(): Promise<void>
}

/**
 * `create` makes a source whose stream time begins at `beginPts`. `onRefused` is told of a source that cannot be made, or
 * that cannot be what is wanted; the others are.
 */
export function createSources(
  create: (identity: Identity, beginPts: number) => Source,
  onRefused: (source: number, error: Error) => void,
): Sources {
  const sources = new Map<number, { identity: Identity; source: Source }>()
  /** Where the time of sources that are gone has ended: one that is made again goes on from there. */
  const ended = new Map<number, number>()

  async function remove(id: number) {
    const { source } = sources.get(id)!
    sources.delete(id)
    await source.stop()
    if (source.endPts() > 0) ended.set(id, source.endPts())
  }

  /** How a source is recorded makes no other source. */
  async function keep({ rate, views, recording: _, ...identity }: DesiredSource) {
    const current = sources.get(identity.id)
    if (current && !isDeepStrictEqual(current.identity, identity)) await remove(identity.id)
    if (!sources.has(identity.id)) {
      const source = create(identity, ended.get(identity.id) ?? 0)
      sources.set(identity.id, { identity, source })
    }
    await sources.get(identity.id)!.source.want(views, rate)
  }

  const each = () => [...sources.values()].map(({ source }) => source)

  return {
    async apply(wanted) {
      const ids = new Set(wanted.map(({ id }) => id))
      const gone = [...sources.keys()].filter(id => !ids.has(id))
      const kept = wanted.map(each => keep(each).catch(error => onRefused(each.id, error)))
      await Promise.all([...gone.map(remove), ...kept])
    },
    get: id => sources.get(id)?.source,
    all: each,
    async removeViews() {
      await Promise.all(each().map(source => source.want({}, undefined)))
    },
    async stop() {
      await Promise.all([...sources.keys()].map(remove))
    },
  }
}
