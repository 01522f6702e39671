import type { Client } from '@eyrie/client'
import type { Pipeline, PipelineElement, Sink, Source } from '@eyrie/contract'

/** What the edits change: a pipeline, and a sink that is connected and disconnected. */
export interface EditTarget {
  api: Client
  pipeline: Pick<Pipeline, 'id'>
  sink: Pick<Sink, 'id'>
  /** The source of the pipeline, and another one. */
  source: Pick<Source, 'id'>
  otherSource: Pick<Source, 'id'>
}

/**
 * The observable effect of an edit: frames carry its number, or the sink writes
 * frames, or it does not.
 */
export type EditEffect = 'marked' | 'sink writes' | 'sink idle'

/**
 * Applies the edit with this number, from 1. Each differs from the previous one and from the
 * last one of its kind.
 */
export async function applyEdit(target: EditTarget, number: number): Promise<EditEffect> {
  const apply = kinds[number % kinds.length] as EditKind
  return apply(target, number)
}

type EditKind = (target: EditTarget, number: number) => Promise<EditEffect>

const mark = (edit: number) => ({ name: 'mark', args: { edit } })
const infer = (args: object = {}) => ({ name: 'infer', args: { model: 'scene-detector', ...args } })
const resize = (args: Record<string, number>) => ({ name: 'image-resize', args })

const replaceElements =
  (create: (number: number, target: EditTarget) => PipelineElement[]): EditKind =>
  async (target, number) => {
    await target.api.pipeline.modify(target.pipeline.id, {
      elements: [...create(number, target), mark(number)],
    })
    return 'marked'
  }

const kinds: EditKind[] = [
  // A view that another channel uses, too, in a worker thread.
  replaceElements(() => [{ name: 'read-number' }]),
  // Each input size of a model needs its own view.
  replaceElements(number => [
    resize({ width: 64 + 32 * (number % 5), height: 64 + 32 * (number % 3) }),
    infer(),
  ]),
  async ({ api, pipeline, sink }) => {
    await api.connectSinks(pipeline.id, [sink.id])
    return 'sink writes'
  },
  replaceElements(number => [
    resize({ scale: (10 + (number % 7)) / 100 }),
    infer({ score_threshold: 0.5 }),
  ]),
  // The same view with other arguments and a configuration.
  replaceElements((number, { source }) => [
    resize({ scale: (10 + ((number - 1) % 7)) / 100 }),
    infer({ score_threshold: (1 + (number % 8)) / 10 }),
    { name: 'object-tracking' },
    { name: 'line-crossing', config: { [source.id]: { lines: [lineAt(number)] } } },
  ]),
  async ({ api, sink, otherSource }) => {
    await api.sink.modify(sink.id, { filter: [otherSource.id] })
    return 'sink idle'
  },
  // Two views: a frame is analysed once it is in both.
  replaceElements(number => [
    { name: 'read-number' },
    resize({ width: 128, height: 64 + 32 * (number % 4) }),
    infer(),
  ]),
  async ({ api, sink, source }) => {
    await api.sink.modify(sink.id, { filter: [source.id] })
    return 'sink writes'
  },
  // No view at all, and the whole pipeline is replaced.
  async ({ api, pipeline }, number) => {
    const before = await api.pipeline.get(pipeline.id)
    await api.pipeline.update(pipeline.id, {
      ...before,
      elements: [{ name: 'object-tracking', args: { max_age: number } }, mark(number)],
      usecase: `edit ${number}`,
      priority: number % 10,
    })
    return 'marked'
  },
  async ({ api, pipeline, sink }) => {
    await api.disconnectSinks(pipeline.id, [sink.id])
    return 'sink idle'
  },
]

/** The number of kinds of edits. Successive edits are of different kinds. */
export const EDIT_KINDS = kinds.length

const lineAt = (number: number) => {
  const y = (1 + (number % 9)) / 10
  return { name: `line ${number}`, coords: [0, 1].map(x => ({ x, y })) }
}
