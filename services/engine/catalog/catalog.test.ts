import type { StoredModel } from '@eyrie/model-store'
import { describe, expect, it } from 'vitest'
import { discoverElements } from '../../../test/fixtures/engine/known-elements.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { compileCheck } from '../plugin-host/schema-check.ts'
import { createCatalog } from './catalog.ts'

const stored = ['person', 'vehicle'].map(name => ({ card: { name } }) as StoredModel)

function catalogOf(folders: string[] = [], devices = ['cpu']) {
  return createCatalog({
    elements: discoverElements(...folders),
    models: { list: () => stored, get: name => stored.find(({ card }) => card.name === name) },
    inference: {
      devices: () => devices.map(type => ({ type, current_models: 0, isolation: 'full' as const })),
    },
  })
}

describe('catalog', () => {
  it('lists each element with the version of its plugin and without internal fields of the manifest', () => {
    const resize = catalogOf()
      .elements()
      .find(({ name }) => name === 'image-resize')
    expect(resize).toMatchObject({ version: '1.0.0', passthrough: true, config_schema: null })
    expect(Object.keys(resize!).sort()).toEqual([
      'config_schema',
      'description',
      'input_schema',
      'name',
      'output_schema',
      'params_mapping',
      'params_schema',
      'passthrough',
      'title',
      'version',
    ])
  })

  it('lists valid JSON Schemas and maps only parameters of these schemas', () => {
    const elements = catalogOf().elements()
    expect(elements.length).toBeGreaterThan(5)
    for (const {
      params_schema: paramsSchema,
      config_schema: configSchema,
      input_schema: inputSchema,
      output_schema: outputSchema,
      params_mapping: paramsMapping,
    } of elements) {
      for (const schema of [paramsSchema, configSchema, inputSchema, outputSchema]) {
        expect(() => compileCheck(schema)).not.toThrow()
      }
      const mapped = Object.values(paramsMapping).flatMap(names => Object.values(names))
      const params = Object.keys(paramsSchema?.properties ?? {})
      expect(params).toEqual(expect.arrayContaining(mapped))
    }
  })

  it('lists each model for the available devices with the arguments that select it', () => {
    expect(catalogOf().models('devices')).toEqual([
      { name: 'person', hw: 'cpu', args: { infer: { model: 'person', hw: 'cpu' } } },
      { name: 'vehicle', hw: 'cpu', args: { infer: { model: 'vehicle', hw: 'cpu' } } },
    ])
    const devices = catalogOf()
      .models('none')
      .map(({ hw }) => hw)
    expect(new Set(devices)).toEqual(new Set(['cpu', 'gpu', 'igpu']))
  })

  it('detects elements whose config is keyed by sources', () => {
    const catalog = catalogOf()
    expect(catalog.isKeyedBySource('line-crossing')).toBe(true)
    expect(catalog.isKeyedBySource('infer')).toBe(false)
    expect(catalog.isKeyedBySource('nothing')).toBe(false)
  })
})

describe('catalog validation of an element', () => {
  const path = '/elements/0'
  const door = {
    name: 'door',
    coords: [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
  }

  it.each([
    { name: 'infer', args: { model: 'person' } },
    { name: 'infer', args: { model: 'person', hw: 'cpu', score_threshold: 1 } },
    { name: 'image-resize', args: { scale: 0.5 } },
    { name: 'object-tracking' },
    { name: 'line-crossing', config: { '1,2': { lines: [door] } } },
    { name: 'line-crossing', config: { '1, 2': { lines: [door] } } },
    { name: 'line-crossing', config: { '1': { lines: [door] }, '2': { lines: [door] } } },
  ])('accepts %j', element => {
    expect(() => catalogOf().checkElement(element, path)).not.toThrow()
  })

  it.each([
    [{ name: 'nothing' }, '/elements/0/name: unknown element nothing; available: '],
    [{ name: 'infer' }, '/elements/0/args/model: is required'],
    [
      { name: 'infer', args: { model: 'cat' } },
      '/elements/0/args/model: unknown model cat; available: person, vehicle',
    ],
    [
      { name: 'infer', args: { model: 'person', hw: 'gpu' } },
      '/elements/0/args/hw: unknown device gpu; available: cpu',
    ],
    [
      { name: 'infer', args: { model: 'person', hw: 'abacus' } },
      '/elements/0/args/hw: must be one of',
    ],
    [
      { name: 'infer', args: { model: 'person', iou_threshold: 2 } },
      '/elements/0/args/iou_threshold: must be <= 1',
    ],
    [{ name: 'infer', args: { model: 'person', size: 2 } }, '/elements/0/args/size: is not known'],
    [
      { name: 'image-resize', args: { width: 0, height: 9 } },
      '/elements/0/args/width: must be >= 1',
    ],
    [
      { name: 'image-resize', args: { scale: 1 }, config: { a: 1 } },
      '/elements/0/config: is not accepted by this element',
    ],
    [
      { name: 'line-crossing', config: { lines: [door] } },
      '/elements/0/config/lines: "lines" does not name a source: the keys of this config are numbers of sources, such as "1", or several, such as "1,2"',
    ],
    [
      { name: 'line-crossing', config: { '': { lines: [door] } } },
      '/elements/0/config/: "" does not name a source: the keys of this config are numbers of sources',
    ],
    [
      { name: 'line-crossing', config: { '1': { lines: [door, door] } } },
      '/elements/0/config/1/lines: must not have two',
    ],
    [
      { name: 'line-crossing', config: { '1': { lines: [door] }, '2,1': { lines: [door] } } },
      '/elements/0/config/2,1/lines/0/name: source 1 already has a shape named door',
    ],
  ])('rejects %j with its place and reason', (element, reason) => {
    const check = () => catalogOf().checkElement(element, path)
    expect(check).toThrow(expect.objectContaining({ code: 'syntax' }))
    expect(check).toThrow(reason)
  })

  it('validates an element of a user plugin with its schema', () => {
    const folder = createTemporaryFolder()
    const paramsSchema = { type: 'object', properties: { level: { maximum: 3 } } }
    writePlugin(folder, { name: 'fire', element: { params_schema: paramsSchema } })
    const catalog = catalogOf([folder])
    expect(() => catalog.checkElement({ name: 'fire', args: { level: 2 } }, path)).not.toThrow()
    expect(() => catalog.checkElement({ name: 'fire', args: { level: 4 } }, path)).toThrow(
      '/elements/0/args/level',
    )
  })
})
