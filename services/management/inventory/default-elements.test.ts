import type { Catalog, CatalogElement } from '@eyrie/contract'
import { expect, test } from 'vitest'
import { defaultElements } from './default-elements.ts'

const element = (name: string, args: Record<string, unknown> = {}, brought?: object): CatalogElement => ({
  ...{ name, version: '1.0.0', title: name, description: name, passthrough: true },
  params_schema: {
    properties: Object.fromEntries(
      Object.entries(args).map(([key, value]) => [key, value === undefined ? {} : { default: value }]),
    ),
  },
  ...{ params_mapping: {}, config_schema: null, input_schema: null },
  output_schema: brought ? { 'x-usecase': brought } : null,
})
const catalog: Catalog = {
  elements: [
    element('infer', { model: undefined, hw: 'auto' }),
    element('object-tracking', { max_age: 30 }),
    element('line-crossing', { region: 'bottom' }),
    element('queue-length', { people: 3 }, { key: 'queue', name: 'Queue', meta_keys: ['waiting'] }),
  ],
  models: [{ name: 'scene', hw: 'cpu', args: { infer: { model: 'scene', hw: 'cpu' } } }],
}

test('a usecase has the elements that find and follow, and its own, with the defaults of the catalog', () => {
  expect(defaultElements('line-crossing', [{}, catalog])).toEqual([
    { name: 'infer', args: { hw: 'auto', model: 'scene' } },
    { name: 'object-tracking', args: { max_age: 30 } },
    { name: 'line-crossing', args: { region: 'bottom' } },
  ])
})

test('a plugin brings the element of its own usecase', () => {
  expect(defaultElements('queue', [catalog]).at(-1)).toEqual({ name: 'queue-length', args: { people: 3 } })
})

test('where no engine has told of its elements they stand without arguments', () => {
  expect(defaultElements('occupancy', [])).toEqual([
    { name: 'infer', args: {} },
    { name: 'object-tracking', args: {} },
    { name: 'detect-zone-intersection', args: {} },
  ])
})
