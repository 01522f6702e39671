import { isDeepStrictEqual } from 'node:util'
import type { DesiredSource } from '@eyrie/contract'
import { withTimeout } from '@eyrie/kit/timeout'
import type { Source, SourceIdentity } from './source.ts'

/**
 * Creates, configures and stops sources (cameras and files) as the engine requests. A source is
 * replaced only when its identity changes: the settings, such as the address, that cannot
 * change while it runs.
 */
export interface SourceRegistry {
  /** Makes the sources equal to the configured ones. */
  apply(configured: readonly DesiredSource[]): Promise<void>
  get(id: number): Source | undefined
  list(): Source[]
  /**
   * Removes the decoded views of every source, for example when the engine has disconnected.
   * Live views continue.
   */
  removeViews(): Promise<void>
  stop(): Promise<void>
}

export interface SourceRegistryOptions {
  /** Creates a source. Its stream time begins at `beginPts`, in 90 kHz ticks. */
  create(identity: SourceIdentity, beginPts: number): Source
  /** Called for a source that cannot be created or configured. Other sources are not affected. */
  onFailure(source: number, error: Error): void
  /** Called for a removed source that does not stop. It stops later, or never. */
  onStuck(source: number, error: Error): void
}

/**
 * How long a removed source may take to stop. A source that reads from a hung network share takes
 * as long as the share, and the others must not wait for it.
 */
const MAX_STOP_MS = 5000

export function createSourceRegistry({
  create,
  onFailure,
  onStuck,
}: SourceRegistryOptions): SourceRegistry {
  const entries = new Map<number, { identity: SourceIdentity; source: Source }>()
  /**
   * Stream time at which each removed source ended. A source with the same ID continues from there.
   */
  const endPts = new Map<number, number>()

  async function remove(id: number) {
    const { source } = entries.get(id)!
    entries.delete(id)
    const stopped = withTimeout(MAX_STOP_MS, source.stop(), 'the source has not stopped')
    await stopped.catch(error => onStuck(id, error))
    if (source.endPts() > 0) endPts.set(id, source.endPts())
  }

  async function applySource(configured: DesiredSource) {
    // `recording` is not part of the identity, so a change of the recording does not restart the
    // source.
    const { rate, views, recording: _, ...identity } = configured
    const { id } = identity

    const existing = entries.get(id)
    if (existing && !isDeepStrictEqual(existing.identity, identity)) await remove(id)
    if (!entries.has(id)) {
      const source = create(identity, endPts.get(id) ?? 0)
      entries.set(id, { identity, source })
    }

    await entries.get(id)!.source.setViews(views, rate)
  }

  const list = () => [...entries.values()].map(({ source }) => source)

  return {
    async apply(configured) {
      const ids = new Set(configured.map(({ id }) => id))
      const removedIds = [...entries.keys()].filter(id => !ids.has(id))
      const removals = removedIds.map(remove)
      const changes = configured.map(source =>
        applySource(source).catch(error => onFailure(source.id, error)),
      )
      await Promise.all([...removals, ...changes])
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
