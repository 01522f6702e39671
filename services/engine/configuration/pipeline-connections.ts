import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { ConfigurationState } from './configuration-state.ts'

/** The resources that can be connected to a pipeline. */
export type Connectable = 'sources' | 'sinks'

/**
 * Adds sources or sinks to a pipeline. Throws `EyrieError` (`id`) if any is unknown
 * or already connected.
 */
export function connectToPipeline(
  state: ConfigurationState,
  pipeline: Pipeline,
  kind: Connectable,
  ids: number[],
): Pipeline {
  const existing = new Set(state[kind].map(({ id }) => id))
  const invalid = ids.filter(id => !existing.has(id) || pipeline[kind].includes(id))
  assertNoInvalidIds(invalid, pipeline, kind, 'do not exist or are already connected')
  return { ...pipeline, [kind]: [...pipeline[kind], ...ids] }
}

/** Removes sources or sinks from a pipeline. Throws `EyrieError` (`id`) if any is not connected. */
export function disconnectFromPipeline(
  pipeline: Pipeline,
  kind: Connectable,
  ids: number[],
): Pipeline {
  const invalid = ids.filter(id => !pipeline[kind].includes(id))
  assertNoInvalidIds(invalid, pipeline, kind, 'do not exist or are not connected')
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

function assertNoInvalidIds(
  invalid: number[],
  pipeline: Pipeline,
  kind: Connectable,
  problem: string,
): void {
  if (invalid.length === 0) return
  const { id } = pipeline
  throw new EyrieError(
    'id',
    `${kind} ${invalid.join(', ')} ${problem}; pipeline ${id} is unchanged`,
    {
      status: 400,
      value: { id: String(id), [kind]: invalid },
    },
  )
}
