import type { Client } from '@eyrie/client'
import type { Pipeline, PipelineElement, Sink, Source } from '@eyrie/contract'

/** What edits work on: a pipeline, and a sink that is connected to it and taken off again. */
export interface Edited {
  api: Client
  pipeline: Pick<Pipeline, 'id'>
  sink: Pick<Sink, 'id'>
  /** The pipeline's source, and one that it does not have. */
  source: Pick<Source, 'id'>
  otherSource: Pick<Source, 'id'>
}

/** What has to show after an edit: frames marked with its number, or that the sink takes frames, or leaves them. */
export type Effect = 'marked' | 'sink takes' | 'sink rests'

/** Makes the edit of this number, from 1 on; each differs from the one before and from its kind's last one. */
export async function edit(edited: Edited, number: number): Promise<Effect> {
  const make = kinds[number % kinds.length] as Kind
  return make(edited, number)
}

type Kind = (edited: Edited, number: number) => Promise<Effect>

const mark = (edit: number) => ({ name: 'mark', args: { edit } })
const infer = (args: object = {}) => ({ name: 'infer', args: { model: 'scene-detector', ...args } })
const resize = (args: Record<string, number>) => ({ name: 'image-resize', args })

const elements =
  (made: (number: number, edited: Edited) => PipelineElement[]): Kind =>
  async (edited, number) => {
    await edited.api.pipeline.modify(edited.pipeline.id, {
      elements: [...made(number, edited), mark(number)],
    })
    return 'marked'
  }

const kinds: Kind[] = [
  // A view that another channel reads too, by a worker thread.
  elements(() => [{ name: 'read-number' }]),
  // Input sizes of a model, each a view of its own.
  elements(number => [resize({ width: 64 + 32 * (number % 5), height: 64 + 32 * (number % 3) }), infer()]),
  async ({ api, pipeline, sink }) => {
    await api.connectSinks(pipeline.id, [sink.id])
    return 'sink takes'
  },
  elements(number => [resize({ scale: (10 + (number % 7)) / 100 }), infer({ score_threshold: 0.5 })]),
  // The same view as before, other arguments and a config.
  elements((number, { source }) => [
    resize({ scale: (10 + ((number - 1) % 7)) / 100 }),
    infer({ score_threshold: (1 + (number % 8)) / 10 }),
    { name: 'object-tracking' },
    { name: 'line-crossing', config: { [source.id]: { lines: [lineAt(number)] } } },
  ]),
  async ({ api, sink, otherSource }) => {
    await api.sink.modify(sink.id, { filter: [otherSource.id] })
    return 'sink rests'
  },
  // Two views at once, of which frames have to be there in both.
  elements(number => [
    { name: 'read-number' },
    resize({ width: 128, height: 64 + 32 * (number % 4) }),
    infer(),
  ]),
  async ({ api, sink, source }) => {
    await api.sink.modify(sink.id, { filter: [source.id] })
    return 'sink takes'
  },
  // No picture at all, and the whole pipeline put anew.
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
    return 'sink rests'
  },
]

const lineAt = (number: number) => {
  const y = (1 + (number % 9)) / 10
  return { name: `line ${number}`, coords: [0, 1].map(x => ({ x, y })) }
}
