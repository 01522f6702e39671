import { describe, expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

/** The fields of sources, sinks and pipelines, by the lines of the specification. */

const callOf = sharedEngine()
const all = ['v1', 'v2', 'v3'] as const
const v1AndV2 = ['v1', 'v2'] as const
const latest = ['v3'] as const

type Accepted = [
  line: string,
  revisions: readonly (typeof all)[number][],
  path: string,
  body: object,
  stored: object,
]

const long = { url: 'rtsp://camera/stream', username: 'user', transport: 'tcp', latency_ms: 200 }
const tracking = { name: 'object-tracking', args: { max_age: 20 } }

const accepted: Accepted[] = [
  ['a source has an address in short form', all, '/sources', cameraSource, cameraSource],
  ['a source may be of type video', all, '/sources', cameraSource, { type: 'video' }],
  [
    'a source may be of type inf, an endless test pattern',
    all,
    '/sources',
    { type: 'inf', address: 'test://ball' },
    { type: 'inf' },
  ],
  [
    'decoder may be gst_h264',
    latest,
    '/sources',
    { ...cameraSource, decoder: 'gst_h264' },
    { decoder: 'gst_h264' },
  ],
  [
    'a source has an address in long form',
    all,
    '/sources',
    { ...cameraSource, address: long },
    { address: long },
  ],
  ['a source has a rate', all, '/sources', { ...cameraSource, rate: 12.5 }, { rate: 12.5 }],
  ['a rate has no upper bound', all, '/sources', { ...cameraSource, rate: 1e12 }, { rate: 1e12 }],
  ['decoder defaults to gst_h264', latest, '/sources', cameraSource, { decoder: 'gst_h264' }],
  [
    'decoder may be gst',
    latest,
    '/sources',
    { ...cameraSource, decoder: 'gst' },
    { decoder: 'gst' },
  ],
  [
    'decoder may be ffmpeg',
    latest,
    '/sources',
    { ...cameraSource, decoder: 'ffmpeg' },
    { decoder: 'ffmpeg' },
  ],
  ['a sink has a type and an address', all, '/sinks', discardSink, discardSink],
  [
    'an empty filter means no filtering',
    all,
    '/sinks',
    { ...discardSink, filter: [] },
    { filter: [] },
  ],
  ['the ids of a filter may be 0', all, '/sinks', { ...discardSink, filter: [0] }, { filter: [0] }],
  [
    'an omitted filter is returned empty',
    all,
    '/sinks',
    discardSink,
    { ...discardSink, filter: [] },
  ],
  ['a filter names sources', all, '/sinks', { ...discardSink, filter: [4, 2] }, { filter: [4, 2] }],
  [
    'an element is an object with args',
    all,
    '/pipelines',
    { elements: [tracking] },
    { elements: [tracking] },
  ],
  [
    'an element is a string',
    v1AndV2,
    '/pipelines',
    { elements: ['object-tracking:20'] },
    { elements: [tracking] },
  ],
  [
    'strings and objects may be mixed',
    v1AndV2,
    '/pipelines',
    { elements: ['object-tracking', { name: 'line-crossing' }] },
    { elements: countingElements },
  ],
  [
    'a config is stored unchanged',
    all,
    '/pipelines',
    { elements: [{ name: 'detect-zone-intersection', config: { zones: [] } }] },
    { elements: [{ name: 'detect-zone-intersection', config: { zones: [] } }] },
  ],
  [
    'arguments of a string are in the order of the element',
    v1AndV2,
    '/pipelines',
    { elements: ['object-tracking:20:10:2'] },
    {
      elements: [
        { name: 'object-tracking', args: { max_age: 20, history: 10, sampling_frequency: 2 } },
      ],
    },
  ],
  [
    'a usecase is a text',
    all,
    '/pipelines',
    { elements: countingElements, usecase: 'counting' },
    { usecase: 'counting' },
  ],
  [
    'missing sources and sinks are returned as empty lists',
    all,
    '/pipelines',
    { elements: countingElements },
    { sources: [], sinks: [] },
  ],
]

describe.each(accepted)('%s', (_, revisions, path, body, stored) => {
  test.each(revisions)('in %s', async revision => {
    const answer = await callOf(revision)('POST', path, body)
    expect(answer).toMatchObject({ status: 201, body: { id: expect.any(Number), ...stored } })
  })
})

type Refused = [
  line: string,
  revisions: readonly (typeof all)[number][],
  path: string,
  body: unknown,
  place: string,
]

const refused: Refused[] = [
  ['the type of a source is required', all, '/sources', { address: 'rtsp://a/' }, '/type'],
  ['the address of a source is required', all, '/sources', { type: 'video' }, '/address'],
  [
    'the type of a source must be a known type',
    all,
    '/sources',
    { ...cameraSource, type: 'tape' },
    '/type',
  ],
  [
    'the address of a source is a text or an object',
    all,
    '/sources',
    { ...cameraSource, address: 7 },
    '/address',
  ],
  ['a rate is greater than 0', all, '/sources', { ...cameraSource, rate: 0 }, '/rate'],
  ['a decoder is rejected', v1AndV2, '/sources', { ...cameraSource, decoder: 'gst' }, '/decoder'],
  [
    'a decoder is one of three',
    latest,
    '/sources',
    { ...cameraSource, decoder: 'best' },
    '/decoder',
  ],
  ['the id is assigned by the engine', all, '/sources', { ...cameraSource, id: 3 }, '/id'],
  ['the type of a source is a text', all, '/sources', { ...cameraSource, type: 7 }, '/type'],
  ['an address is not empty', all, '/sources', { ...cameraSource, address: '' }, '/address'],
  [
    'an address in long form has a url',
    all,
    '/sources',
    { ...cameraSource, address: { username: 'user' } },
    '/address/url',
  ],
  [
    'an address in long form has no other fields',
    all,
    '/sources',
    { ...cameraSource, address: { ...long, colour: 'red' } },
    '/address/colour',
  ],
  [
    'the transport is auto, tcp or udp',
    all,
    '/sources',
    { ...cameraSource, address: { ...long, transport: 'http' } },
    '/address/transport',
  ],
  ['a rate is not negative', all, '/sources', { ...cameraSource, rate: -1 }, '/rate'],
  ['a rate is a number', all, '/sources', { ...cameraSource, rate: '5' }, '/rate'],
  ['the address of a sink is required', all, '/sinks', { type: 'inf' }, '/address'],
  [
    'the address of a sink is a text',
    all,
    '/sinks',
    { ...discardSink, address: { url: 'inf://a' } },
    '/address',
  ],
  ['a filter is a list', all, '/sinks', { ...discardSink, filter: 1 }, '/filter'],
  [
    'the ids of a filter are integers',
    all,
    '/sinks',
    { ...discardSink, filter: [1.5] },
    '/filter/0',
  ],
  ['the id of a sink is assigned by the engine', all, '/sinks', { ...discardSink, id: 3 }, '/id'],
  [
    'the id of a pipeline is assigned by the engine',
    all,
    '/pipelines',
    { elements: countingElements, id: 3 },
    '/id',
  ],
  ['elements are a list', all, '/pipelines', { elements: 'object-tracking' }, '/elements'],
  [
    'a usecase is not a number',
    all,
    '/pipelines',
    { elements: countingElements, usecase: 7 },
    '/usecase',
  ],
  [
    'the ids of sources are not negative',
    all,
    '/pipelines',
    { elements: countingElements, sources: [-1] },
    '/sources/0',
  ],
  [
    'the ids of sources are int32',
    all,
    '/pipelines',
    { elements: countingElements, sources: [2 ** 31] },
    '/sources/0',
  ],
  [
    'the ids of sinks are not negative',
    all,
    '/pipelines',
    { elements: countingElements, sinks: [-1] },
    '/sinks/0',
  ],
  [
    'the ids of sinks are int32',
    all,
    '/pipelines',
    { elements: countingElements, sinks: [2 ** 31] },
    '/sinks/0',
  ],
  ['the type of a sink is required', all, '/sinks', { address: 'inf://a' }, '/type'],
  [
    'the type of a sink must be a known type',
    all,
    '/sinks',
    { ...discardSink, type: 'tape' },
    '/type',
  ],
  [
    'the address of a sink is a URL',
    all,
    '/sinks',
    { ...discardSink, address: 'nowhere' },
    '/address',
  ],
  ['the ids of a filter are unique', all, '/sinks', { ...discardSink, filter: [1, 1] }, '/filter'],
  [
    'the ids of a filter are not negative',
    all,
    '/sinks',
    { ...discardSink, filter: [-1] },
    '/filter/0',
  ],
  [
    'the ids of a filter are int32',
    all,
    '/sinks',
    { ...discardSink, filter: [2 ** 31] },
    '/filter/0',
  ],
  ['elements are required on create', all, '/pipelines', {}, '/elements'],
  ['elements are not empty', all, '/pipelines', { elements: [] }, '/elements'],
  [
    'an element is not a string',
    latest,
    '/pipelines',
    { elements: ['object-tracking'] },
    '/elements/0',
  ],
  [
    'an element must be known',
    v1AndV2,
    '/pipelines',
    { elements: ['nothing:1'] },
    '/elements/0/name',
  ],
  [
    'the arguments of a string are checked by the schema',
    v1AndV2,
    '/pipelines',
    { elements: ['infer:no-such-model'] },
    '/elements/0/args/model',
  ],
  [
    'a string has no more arguments than the element',
    v1AndV2,
    '/pipelines',
    { elements: ['image-resize:1:2:3'] },
    '/elements/0',
  ],
  [
    'score_threshold is at most 1',
    all,
    '/pipelines',
    { elements: [{ name: 'infer', args: { model: 'a', score_threshold: 1.1 } }] },
    '/elements/0/args',
  ],
  [
    'a width is greater than 0',
    all,
    '/pipelines',
    { elements: [{ name: 'image-resize', args: { width: 0, height: 5 } }] },
    '/elements/0/args/width',
  ],
  [
    'a priority is rejected',
    v1AndV2,
    '/pipelines',
    { elements: countingElements, priority: 3 },
    '/priority',
  ],
]

describe.each(refused)('%s', (_, revisions, path, body, place) => {
  test.each(revisions)('in %s', async revision => {
    const answer = await callOf(revision)('POST', path, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    expect(answer.body.reason.startsWith(place), answer.body.reason).toBe(true)
  })
})
