import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { State } from './configuration-state.ts'

export type Connectable = 'sources' | 'sinks'

/** The pipeline with more sources or sinks. Throws EyrieError `id` if any does not exist or is connected already. */
export function connected(state: State, pipeline: Pipeline, kind: Connectable, ids: number[]): Pipeline {
  const existing = new Set(state[kind].map(item => item.id))
  const wrong = ids.filter(id => !existing.has(id) || pipeline[kind].includes(id))
  refuse(wrong, pipeline, kind, 'do not exist or are connected already')
  return { ...pipeline, [kind]: [...pipeline[kind], ...ids] }
}

/** The pipeline with fewer sources or sinks. Throws EyrieError `id` if any is not connected. */
export function disconnected(pipeline: Pipeline, kind: Connectable, ids: number[]): Pipeline {
  const wrong = ids.filter(id => !pipeline[kind].includes(id))
  refuse(wrong, pipeline, kind, 'do not exist or are not connected')
  return { ...pipeline, [kind]: pipeline[kind].filter(id => !ids.includes(id)) }
}

const one = { sources: 'source', sinks: 'sink' } as const

/** Throws EyrieError `reference` if pipelines have the source or sink. */
export function requireUnconnected({ pipelines }: State, kind: Connectable, id: number): void {
  const holders = pipelines.filter(pipeline => pipeline[kind].includes(id)).map(pipeline => pipeline.id)
  if (holders.length === 0) return
  throw new EyrieError(
    'reference',
    `${one[kind]} ${id} is connected to pipelines ${holders.join(', ')}: disconnect it, or add ?force=true`,
    { value: { pipelines: holders } },
  )
}

function refuse(wrong: number[], { id }: Pipeline, kind: Connectable, why: string): void {
  if (wrong.length === 0) return
  throw new EyrieError('id', `${kind} ${wrong.join(', ')} ${why}; pipeline ${id} stays as it was`, {
    status: 400,
    value: { id: String(id), [kind]: wrong },
  })
}
