import { describe, expect, test } from 'vitest'
import {
  allRevisions,
  type Statement,
  testStatements,
} from '../../../../test/fixtures/engine/conformance.ts'
import {
  sharedEngine,
  sharedStatefulEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** Arguments and configs of elements. */

const callOf = sharedEngine()
const call = sharedStatefulEngine({ EYRIE_LICENSE: 'community' })

type Schema = { properties?: Record<string, unknown>; required?: string[]; type?: string }
const elementOf = async (name: string) =>
  (await call('GET', '/catalog?filter=elements')).body.elements.find(
    (element: { name: string }) => element.name === name,
  )
const paramsOf = async (name: string): Promise<Schema> => (await elementOf(name)).params_schema

const region = { enum: ['center', 'bottom', 'top', 'left', 'right', 'box'], default: 'bottom' }
const ratio = { type: 'number', exclusiveMinimum: 0, maximum: 1, default: 0.25 }
const threshold = { type: 'number', minimum: 0, maximum: 1, default: 0.3 }
const count = (minimum: number, usual: number) => ({ type: 'integer', minimum, default: usual })

type Argument = [element: string, argument: string, rule: object]

const args: Argument[] = [
  ['infer', 'model', { type: 'string' }],
  ['infer', 'hw', { enum: ['auto', 'cpu', 'igpu', 'gpu'], default: 'auto' }],
  ['infer', 'mode', { enum: ['a', 's'], default: 'a' }],
  ['infer', 'score_threshold', threshold],
  ['infer', 'iou_threshold', threshold],
  ['object-tracking', 'max_age', count(1, 30)],
  ['object-tracking', 'history', count(0, 50)],
  ['object-tracking', 'sampling_frequency', count(1, 1)],
  ['object-tracking-OH', 'max_age', count(1, 30)],
  ['object-tracking-OH', 'history', count(0, 50)],
  ['object-tracking-OH', 'min_hits', count(1, 3)],
  ['object-tracking-OH', 'region', region],
  ['object-tracking-OH', 'ratio', ratio],
  ['object-tracking-OH', 'moving_average', count(1, 5)],
  [
    'line-crossing',
    'directions',
    { type: 'array', items: { type: 'integer', enum: [0, 1] }, default: [0, 1] },
  ],
  ['line-crossing', 'history', count(1, 30)],
  ['line-crossing', 'region', region],
  ['line-crossing', 'ratio', ratio],
  ['detect-zone-intersection', 'region', region],
  ['social-distancing', 'threshold', { type: 'number', exclusiveMinimum: 0, default: 2 }],
  ['motion', 'min_area', { type: 'number', minimum: 0, maximum: 1, default: 0.002 }],
  ['motion', 'history', { type: 'integer', default: 300 }],
  ['motion', 'threshold', { type: 'number', default: 16 }],
]

describe('table of elements', () => {
  test.each(args)('%s has the argument %s: %j', async (element, argument, rule) => {
    expect((await paramsOf(element)).properties?.[argument]).toMatchObject(rule)
  })

  test('lists all arguments of all elements', async () => {
    for (const name of new Set(args.map(([element]) => element))) {
      expect([name, Object.keys((await paramsOf(name)).properties ?? {})]).toEqual([
        name,
        args.filter(([element]) => element === name).map(([, argument]) => argument),
      ])
    }
  })

  test('requires only the model of infer; all other arguments have defaults', async () => {
    for (const name of new Set(args.map(([element]) => element))) {
      expect([name, (await paramsOf(name)).required ?? []]).toEqual([
        name,
        name === 'infer' ? ['model'] : [],
      ])
    }
  })
})

const box = { x: 0, y: 0 }
const coords = [box, { x: 1, y: 0 }, { x: 1, y: 1 }, { x: 0, y: 1 }]
const line = (name: string, points: object[] = coords.slice(0, 2)) => ({ name, coords: points })
const lines = (...all: object[]) => ({ name: 'line-crossing', config: { $source: { lines: all } } })
const zones = (...all: object[]) => ({ name: 'detect-zone-intersection', config: { zones: all } })
const distancing = (calibration: object) => ({ name: 'social-distancing', config: { calibration } })
const resize = (args: object) => ({ name: 'image-resize', args })
const infer = (args: object) => ({ name: 'infer', args: { model: 'scene-detector', ...args } })
const crossing = (args: object) => ({ name: 'line-crossing', args })

type ElementLine = [sentence: string, element: object, place?: string]

/**
 * If `place` is set, the element is rejected there. `$source` in a config is replaced
 * by the id of a source.
 */
const elementLines: ElementLine[] = [
  ['no element without a name', { args: {} }, '/name'],
  ['no name that is not a string', { name: 7 }, '/name'],
  ['no args that are not an object', { name: 'object-tracking', args: [1] }, '/args'],
  ['no config that is not an object', { name: 'line-crossing', config: 'door' }, '/config'],
  ['no unknown fields', { name: 'line-crossing', hw: 'cpu' }, '/hw'],
  [
    'no config for an element without one',
    { name: 'object-tracking', config: { a: 1 } },
    '/config',
  ],
  ['infer with only a model', infer({})],
  ['a score_threshold of 0', infer({ score_threshold: 0 })],
  ['a score_threshold of 1', infer({ score_threshold: 1 })],
  ['no score_threshold below 0', infer({ score_threshold: -0.1 }), '/args/score_threshold'],
  ['no score_threshold above 1', infer({ score_threshold: 1.1 }), '/args/score_threshold'],
  ['an iou_threshold of 0', infer({ iou_threshold: 0 })],
  ['an iou_threshold of 1', infer({ iou_threshold: 1 })],
  ['no iou_threshold below 0', infer({ iou_threshold: -0.1 }), '/args/iou_threshold'],
  ['no iou_threshold above 1', infer({ iou_threshold: 1.1 }), '/args/iou_threshold'],
  ['hw auto', infer({ hw: 'auto' })],
  ['no unknown hw', infer({ hw: 'fpga' }), '/args/hw'],
  ['no unknown mode', infer({ mode: 'b' }), '/args/mode'],
  ['no unknown model', infer({ model: 'nothing' }), '/args/model'],
  ['image-resize with width and height', resize({ width: 640, height: 360 })],
  ['image-resize with a scale', resize({ scale: 0.5 })],
  ['no image-resize with only a width', resize({ width: 640 }), '/args/height'],
  ['no image-resize without arguments', resize({}), '/args'],
  ['no width of 0', resize({ width: 0, height: 360 }), '/args/width'],
  ['no fractional width', resize({ width: 1.5, height: 360 }), '/args/width'],
  ['no height of 0', resize({ width: 640, height: 0 }), '/args/height'],
  ['no scale of 0', resize({ scale: 0 }), '/args/scale'],
  ['no scale together with a width', resize({ scale: 1, width: 640, height: 360 }), '/args'],
  ['directions of one', crossing({ directions: [1] })],
  ['no directions other than 0 and 1', crossing({ directions: [2] }), '/args/directions/0'],
  ['a ratio of 1', crossing({ ratio: 1 })],
  ['no ratio of 0', crossing({ ratio: 0 }), '/args/ratio'],
  ['lines keyed by the id of a source', lines(line('door'))],
  [
    'no lines keyed by a word',
    { name: 'line-crossing', config: { door: { lines: [] } } },
    '/config',
  ],
  ['no line of one point', lines(line('door', [box])), '/config/$source/lines/0/coords'],
  ['no two lines with the same name', lines(line('door'), line('door')), '/config/$source/lines'],
  [
    'no point beyond 1',
    lines(line('door', [box, { x: 1.1, y: 0 }])),
    '/config/$source/lines/0/coords/1/x',
  ],
  [
    'no point below 0',
    lines(line('door', [{ x: 0, y: -0.1 }, box])),
    '/config/$source/lines/0/coords/0/y',
  ],
  ['no line without a name', lines({ coords }), '/config/$source/lines/0/name'],
  ['zones', zones({ name: 'hall', coords })],
  [
    'no two zones with the same name',
    zones({ name: 'hall', coords }, { name: 'hall', coords }),
    '/config/zones',
  ],
  ['no zone of two points', zones(line('hall')), '/config/zones/0/coords'],
  ['a calibration of four points', distancing({ image: coords, world: coords })],
  ['no calibration without a world', distancing({ image: coords }), '/config/calibration/world'],
  [
    'no calibration of three points',
    distancing({ image: coords.slice(1), world: coords }),
    '/config/calibration/image',
  ],
  [
    'no calibration with crossed corners',
    distancing({ image: coords, world: [0, 2, 1, 3].map(i => coords[i]) }),
    '/config/calibration/world',
  ],
]

describe('pipelines accept', () => {
  testStatements(
    callOf,
    elementLines.map(
      ([sentence, element, place]): Statement => [
        sentence,
        allRevisions,
        async ({ call, create }) => {
          const source = await create('/sources', {
            type: 'video',
            address: 'rtsp://camera/stream',
          })
          const insertSource = (value: string) => value.replaceAll('$source', String(source))
          const answer = await call('POST', '/pipelines', {
            elements: [JSON.parse(insertSource(JSON.stringify(element)))],
            sources: [source],
          })
          if (place === undefined) return expect(answer).toMatchObject({ status: 201 })
          expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
          const path = `/elements/0${insertSource(place)}`
          expect(answer.body.reason.startsWith(path), answer.body.reason).toBe(true)
        },
      ],
    ),
  )
})
