import { modelCard } from '@eyrie/contract/model'
import { expect, it } from 'vitest'
import { type DemandContext, estimateDemand } from './element-demand.ts'

const input = {
  name: 'images',
  layout: 'nchw',
  color: 'bgr',
  dtype: 'uint8',
  width: 416,
  height: 416,
}
const createCard = (name: string, dynamic: boolean) =>
  modelCard.parse({
    name,
    task: 'detect',
    head: 'yolox',
    labels: ['person'],
    license: 'MIT',
    sha256: 'a'.repeat(64),
    input: { ...input, dynamic },
  })
const cards = [createCard('any-size', true), createCard('one-size', false)]

type CatalogElement = NonNullable<ReturnType<DemandContext['elements']['get']>>
const plugin = { version: '1.2.3' }
const elements = new Map<string, CatalogElement>([
  ['infer', { plugin, manifest: { params_mapping: { models: { name: 'model', hw: 'hw' } } } }],
  ['image-resize', { plugin, manifest: { params_mapping: {} } }],
  ['count', { plugin, manifest: { params_mapping: {} } }],
])
const models = {
  get: (name: string) => {
    const card = cards.find(card => card.name === name)
    return card && { card, folder: '', file: '' }
  },
}
const demand = (...pipelineElements: { name: string; args?: Record<string, unknown> }[]) =>
  estimateDemand(pipelineElements, { elements, models, bestDevice: 'gpu' })
const infer = (model: string, more = {}) => ({ name: 'infer', args: { model, ...more } })

it('returns elements with their versions and omits unknown elements', () => {
  expect(demand({ name: 'count' }, { name: 'nothing' })).toEqual([
    { name: 'count', version: '1.2.3' },
  ])
})

it('selects the best device unless the arguments select another one', () => {
  const [auto, cpu] = demand(infer('one-size'), infer('one-size', { hw: 'cpu' }))
  expect(auto?.inference).toEqual({
    model: 'one-size',
    sha256: 'a'.repeat(64),
    device: 'gpu',
    view: { width: 416, height: 416 },
  })
  expect(cpu?.inference?.device).toBe('cpu')
})

it('derives the view of a dynamic model from the known picture size', () => {
  const resize = (args: Record<string, unknown>) => ({ name: 'image-resize', args })
  const view = (...pipelineElements: Parameters<typeof demand>) =>
    demand(...pipelineElements).at(-1)?.inference?.view
  expect(view(infer('any-size'))).toEqual({ width: 416, height: undefined })
  expect(view(resize({ width: 300, height: 200 }), infer('any-size'))).toEqual({
    width: 320,
    height: 224,
  })
  expect(view(resize({ scale: 0.5 }), infer('any-size'))).toEqual({
    width: undefined,
    height: undefined,
  })
  expect(view(resize({ scale: 0.5 }), infer('one-size'))).toEqual({ width: 416, height: 416 })
})

it('omits inference if the model does not exist', () => {
  expect(demand(infer('missing'))).toEqual([{ name: 'infer', version: '1.2.3' }])
})
