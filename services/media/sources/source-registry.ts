import { isDeepStrictEqual } from 'node:util'
import type { DesiredSource } from '@eyrie/contract'
import type { Source, SourceIdentity } from './source.ts'

/** The configured sources by id. A source is replaced only when its own identity changes. */
export interface SourceRegistry {
  apply(configured: readonly DesiredSource[]): Promise<void>
  get(id: number): Source | undefined
  list(): Source[]
  /** Removes the views of every source, for example when the engine has disconnected. Live views continue. */
  removeViews(): Promise<void>
  stop(): Promise<void>
}

/**
 * `create` creates a source whose stream time begins at `beginPts`, in 90 kHz ticks. `onFailure` reports a source that
 * cannot be created or configured; the other sources are applied nevertheless.
 */
export function createSourceRegistry(
  create: (identity: SourceIdentity, beginPts: number) => Source,
  onFailure: (source: number, error: Error) => void,
): SourceRegistry {
  const entries = new Map<number, { identity: SourceIdentity; source: Source }>()
  /** Stream time at which removed sources ended: a source that is created again continues from there. */
  const endPts = new Map<number, number>()

  async function remove(id: number) {
    const { source } = entries.get(id)!
    entries.delete(id)
    await source.stop()
    if (source.endPts() > 0) endPts.set(id, source.endPts())
  }

  /** `recording` is not part of the identity: recording a source differently does not restart it. */
  async function applyOne({ rate, views, recording: _, ...identity }: DesiredSource) {
    const existing = entries.get(identity.id)
    if (existing && !isDeepStrictEqual(existing.identity, identity)) await remove(identity.id)
    if (!entries.has(identity.id)) {
      const source = create(identity, endPts.get(identity.id) ?? 0)
      entries.set(identity.id, { identity, source })
    }
    await entries.get(identity.id)!.source.setViews(views, rate)
  }

  const list = () => [...entries.values()].map(({ source }) => source)

  return {
    async apply(configured) {
      const ids = new Set(configured.map(({ id }) => id))
      const removed = [...entries.keys()].filter(id => !ids.has(id))
      const applied = configured.map(source => applyOne(source).catch(error => onFailure(source.id, error)))
      await Promise.all([...removed.map(remove), ...applied])
    },
    get: id => entries.get(id)?.source,
    list,
    async removeViews() {
      await Promise.all(list().map(source => source.setViews({}, undefined)))
    },
    async stop() {
      await Promise.all([...entries.keys()].map(remove))
    },
  }
}
