import { describe, expect } from 'vitest'
import {
  allRevisions,
  type Statement,
  testStatements,
  v1AndV2,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  sharedEngine,
  sharedStatefulEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** The catalog of elements, models and devices. */

const callOf = sharedEngine()
const call = sharedStatefulEngine({ EYRIE_LICENSE: 'community' })

const elementOf = async (name: string) =>
  (await call('GET', '/catalog?filter=elements')).body.elements.find(
    (element: { name: string }) => element.name === name,
  )
const present = [
  'infer',
  'object-tracking',
  'line-crossing',
  'detect-zone-intersection',
  'social-distancing',
]

const catalogLines: Statement[] = [
  [
    'an element has a name, a version, a title, a description, passthrough and its schemas',
    v3Only,
    async ({ call }) => {
      for (const element of (await call('GET', '/catalog')).body.elements) {
        expect(element).toEqual({
          name: expect.stringMatching(/^[A-Za-z][A-Za-z0-9-]*$/),
          version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
          title: expect.any(String),
          description: expect.any(String),
          passthrough: expect.any(Boolean),
          params_schema: expect.any(Object),
          params_mapping: expect.any(Object),
          config_schema: element.config_schema && expect.any(Object),
          input_schema: element.input_schema && expect.any(Object),
          output_schema: element.output_schema && expect.any(Object),
        })
      }
    },
  ],
  [
    'social-distancing and object-tracking-OH also describe their input and output',
    v3Only,
    async () => {
      for (const name of ['social-distancing', 'object-tracking-OH']) {
        const { input_schema: inputSchema, output_schema: outputSchema } = await elementOf(name)
        for (const schema of [inputSchema, outputSchema]) {
          expect(schema).toMatchObject({
            type: 'object',
            properties: { objects: { type: 'array' } },
          })
        }
      }
      expect((await elementOf('social-distancing')).config_schema.properties).toHaveProperty(
        'calibration',
      )
    },
  ],
  [
    'params_mapping maps properties of models and devices to the parameters of infer',
    v3Only,
    async () =>
      expect((await elementOf('infer')).params_mapping).toEqual({
        models: { name: 'model', hw: 'hw' },
        devices: { type: 'hw' },
      }),
  ],
  [
    'image-resize has passthrough true',
    v3Only,
    async () => expect((await elementOf('image-resize')).passthrough).toBe(true),
  ],
  [
    'all elements of the table exist; only v3 has title and description',
    allRevisions,
    async ({ call, revision }) => {
      const { elements } = (await call('GET', '/pipelines/elements')).body
      for (const name of present) {
        const element = elements.find((each: { name: string }) => each.name === name)
        expect('title' in element).toBe(revision === 'v3')
      }
    },
  ],
  [
    'a model has a name, its hardware and the arguments of each element that uses it',
    v3Only,
    async ({ call }) => {
      const { models } = (await call('GET', '/catalog/models')).body
      expect(models).toContainEqual({
        name: 'scene-detector',
        hw: 'cpu',
        args: { infer: { model: 'scene-detector', hw: 'cpu' } },
      })
    },
  ],
  [
    'models are listed only for available devices, unless the filter is none',
    v3Only,
    async ({ call }) => {
      const devices = (await call('GET', '/catalog?filter=devices')).body.devices.map(
        (device: { type: string }) => device.type,
      )
      const hardware = async (path: string): Promise<string[]> =>
        (await call('GET', path)).body.models.map((model: { hw: string }) => model.hw)
      for (const path of [
        '/catalog/models',
        '/catalog/models?filter=devices',
        '/catalog?filter-models=devices',
      ]) {
        expect((await hardware(path)).filter(hw => !devices.includes(hw))).toEqual([])
      }
      for (const path of ['/catalog/models?filter=none', '/catalog?filter-models=none']) {
        expect(new Set(await hardware(path))).toEqual(new Set(['cpu', 'gpu', 'igpu']))
      }
    },
  ],
  [
    'a device has a type and the number of its models; max_models is present only if limited',
    v3Only,
    async ({ call }) => {
      const { devices } = (await call('GET', '/catalog?filter=devices')).body
      expect(devices).toContainEqual(expect.objectContaining({ type: 'cpu', current_models: 0 }))
      for (const { max_models: maxModels = 1, isolation } of devices) {
        expect(maxModels).toBeGreaterThanOrEqual(1)
        // Not specified: whether the boundaries around the processes that run models are in force.
        expect(['full', 'partial', 'none']).toContain(isolation)
      }
    },
  ],
  [
    'a pipeline that selects an unavailable device is rejected',
    allRevisions,
    async ({ call }) => {
      const answer = await call('POST', '/pipelines', {
        elements: [{ name: 'infer', args: { model: 'scene-detector', hw: 'igpu' } }],
      })
      expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
      expect(answer.body.reason).toMatch('/elements/0/args/hw')
    },
  ],
  [
    'parts that the filter excludes are absent',
    v3Only,
    async ({ call }) => {
      for (const part of ['elements', 'models', 'devices']) {
        expect(Object.keys((await call('GET', `/catalog?filter=${part}`)).body)).toEqual([part])
      }
      expect(Object.keys((await call('GET', '/catalog')).body).sort()).toEqual([
        'devices',
        'elements',
        'models',
      ])
      for (const part of ['elements', 'models']) {
        expect(Object.keys((await call('GET', `/pipelines/elements?filter=${part}`)).body)).toEqual(
          [part],
        )
      }
    },
  ],
  [
    'unknown filters are rejected',
    v3Only,
    async ({ call }) => {
      for (const query of [
        '/catalog?filter=plugins',
        '/catalog?filter-models=all',
        '/catalog/models?filter=x',
      ]) {
        expect((await call('GET', query)).body.code).toBe('syntax')
      }
    },
  ],
  [
    'the platform of a model is CPU, GPU or FPGA',
    v1AndV2,
    async ({ call }) => {
      const { components } = (await call('GET', '/openapi.json')).body
      expect(JSON.stringify(components.schemas.EarlierModel)).toContain('["CPU","GPU","FPGA"]')
    },
  ],
]

describe('catalog', () => testStatements(callOf, catalogLines))
