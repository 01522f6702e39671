import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { ConfigurationState } from './configuration-state.ts'

/** The resources that can be connected to a pipeline. */
export type Connectable = 'sources' | 'sinks'

/** Sources or sinks to connect to a pipeline, or to disconnect. */
export interface Connections {
  kind: Connectable
  ids: number[]
}

/**
 * Adds sources or sinks to a pipeline. Throws `EyrieError` (`id`) if any is unknown
 * or already connected.
 */
export function connectToPipeline(
  state: ConfigurationState,
  pipeline: Pipeline,
  { kind, ids }: Connections,
): Pipeline {
  const existing = new Set(state[kind].map(({ id }) => id))
  const invalid = ids.filter(id => !existing.has(id) || pipeline[kind].includes(id))
  if (invalid.length > 0) {
    throw createIdError(pipeline, { kind, ids: invalid }, 'do not exist or are already connected')
  }
  return { ...pipeline, [kind]: [...pipeline[kind], ...ids] }
}

/** Removes sources or sinks from a pipeline. Throws `EyrieError` (`id`) if any is not connected. */
export function disconnectFromPipeline(pipeline: Pipeline, { kind, ids }: Connections): Pipeline {
  const invalid = ids.filter(id => !pipeline[kind].includes(id))
  if (invalid.length > 0) {
    throw createIdError(pipeline, { kind, ids: invalid }, 'do not exist or are not connected')
  }
  return { ...pipeline, [kind]: pipeline[kind].filter(id => !ids.includes(id)) }
}

/** Throws `EyrieError` (`reference`) if any pipeline is connected to the source or sink. */
export function assertNotConnected(
  { pipelines }: ConfigurationState,
  kind: Connectable,
  id: number,
): void {
  const connected = pipelines
    .filter(pipeline => pipeline[kind].includes(id))
    .map(pipeline => pipeline.id)
  if (connected.length === 0) return
  const name = kind === 'sources' ? 'source' : 'sink'
  throw new EyrieError(
    'reference',
    `${name} ${id} is connected to pipelines ${connected.join(', ')}: disconnect it, or add ?force=true`,
    { value: { pipelines: connected } },
  )
}

function createIdError({ id }: Pipeline, { kind, ids }: Connections, problem: string): EyrieError {
  return new EyrieError('id', `${kind} ${ids.join(', ')} ${problem}; pipeline ${id} is unchanged`, {
    status: 400,
    value: { id: String(id), [kind]: ids },
  })
}
