import type { Catalog, CatalogElement } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { createDefaultElements } from './default-elements.ts'

const element = (
  name: string,
  args: Record<string, unknown> = {},
  usecase?: object,
): CatalogElement => ({
  name,
  version: '1.0.0',
  title: name,
  description: name,
  passthrough: true,
  params_schema: {
    properties: Object.fromEntries(
      Object.entries(args).map(([key, value]) => [
        key,
        value === undefined ? {} : { default: value },
      ]),
    ),
  },
  params_mapping: {},
  config_schema: null,
  input_schema: null,
  output_schema: usecase ? { 'x-usecase': usecase } : null,
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

describe('createDefaultElements', () => {
  it('combines detection, tracking and the element of the usecase with the defaults of the catalog', () => {
    expect(createDefaultElements('line-crossing', [{}, catalog])).toEqual([
      { name: 'infer', args: { hw: 'auto', model: 'scene' } },
      { name: 'object-tracking', args: { max_age: 30 } },
      { name: 'line-crossing', args: { region: 'bottom' } },
    ])
  })

  it('uses the element of a plugin for its usecase', () => {
    expect(createDefaultElements('queue', [catalog]).at(-1)).toEqual({
      name: 'queue-length',
      args: { people: 3 },
    })
  })

  it('returns elements without arguments when there is no catalog', () => {
    expect(createDefaultElements('occupancy', [])).toEqual([
      { name: 'infer', args: {} },
      { name: 'object-tracking', args: {} },
      { name: 'detect-zone-intersection', args: {} },
    ])
  })
})
