import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  allRevisions,
  type Statement,
  testStatements,
  v1AndV2,
  v3Only,
} from '../../../../test/fixtures/engine/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine/engine.ts'
import {
  cameraSource,
  discardSink,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

/** The types of sources and sinks with their addresses. */

const callOf = sharedEngine()

const accepted =
  (path: string, body: object): Statement[2] =>
  async ({ call }) =>
    expect(await call('POST', path, body)).toMatchObject({ status: 201, body })

const refused =
  (path: string, body: object): Statement[2] =>
  async ({ call }) => {
    const answer = await call('POST', path, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    expect(answer.body.reason.startsWith('/address: '), answer.body.reason).toBe(true)
  }

const acceptedAddresses = (
  kind: 'source' | 'sink',
  type: string,
  ...addresses: string[]
): Statement[] =>
  addresses.map(address => [
    `a ${kind} of type ${type} may be at ${address}`,
    allRevisions,
    accepted(`/${kind}s`, { type, address }),
  ])

const lines: Statement[] = [
  ...acceptedAddresses(
    'source',
    'video',
    'rtsp://camera/stream',
    'rtsps://camera/stream',
    'https://camera/video.mjpg',
  ),
  ...acceptedAddresses('source', 'video', '/dev/video0'),
  ...acceptedAddresses(
    'source',
    'hosted_video',
    'http://other:8200/streams/1',
    'https://other:8200/streams/1',
  ),
  ...acceptedAddresses('source', 'zmq', 'tcp://other:5555?bind=false'),
  ...acceptedAddresses('source', 'zmqinternal', 'inproc://counts'),
  ...acceptedAddresses('source', 'inf', 'test://ball', 'test://'),
  ...acceptedAddresses('sink', 'zmq', 'tcp://127.0.0.1:5555?bind=true&topic=counts'),
  ...acceptedAddresses('sink', 'zmqinternal', 'inproc://counts'),
  ...acceptedAddresses(
    'sink',
    'hosted_video',
    'stream://entrance',
    'stream://door-1',
    'stream://door_1',
  ),
  ...acceptedAddresses('sink', 'inf', 'inf://anything'),
  [
    'a video source is not a file',
    allRevisions,
    refused('/sources', { ...cameraSource, address: 'file:///tmp/a.mp4' }),
  ],
  [
    'a file source is in a readable folder',
    allRevisions,
    refused('/sources', { type: 'file', address: 'file:///etc/passwd' }),
  ],
  [
    'an inf source is in a readable folder too',
    allRevisions,
    refused('/sources', { type: 'inf', address: 'file:///etc/passwd' }),
  ],
  [
    'a hosted_video is a stream of an engine',
    allRevisions,
    refused('/sources', { type: 'hosted_video', address: 'http://other/video' }),
  ],
  [
    'a file sink is in a writable folder',
    allRevisions,
    refused('/sinks', { type: 'file', address: 'file:///etc/x' }),
  ],
  [
    'an inf sink is at inf://',
    allRevisions,
    refused('/sinks', { ...discardSink, address: 'file:///tmp/x' }),
  ],
  [
    'v1 and v2 have the same types of sources as v3, but no decoder',
    v1AndV2,
    async ({ call }) => {
      const { components } = (await call('GET', '/openapi.json')).body
      const { properties } = components.schemas.EarlierSourceInput
      expect(properties.type.enum.toSorted()).toEqual(
        ['file', 'hosted_video', 'inf', 'video', 'zmq', 'zmqinternal'].sort(),
      )
      expect(properties).not.toHaveProperty('decoder')
    },
  ],
  [
    'the decoder is gst, gst_h264 or ffmpeg',
    v3Only,
    async ({ call }) => {
      const { components } = (await call('GET', '/openapi.json')).body
      const { decoder } = components.schemas.SourceInput.properties
      expect([decoder.default, decoder.enum.toSorted()]).toEqual([
        'gst_h264',
        ['ffmpeg', 'gst', 'gst_h264'],
      ])
    },
  ],
]

describe('address', () => testStatements(callOf, lines))

test.each(allRevisions)(
  'in %s files are read from and written to the folders of the appliance',
  async revision => {
    const data = createTemporaryFolder()
    for (const folder of ['media', 'output']) mkdirSync(join(data, folder))
    writeFileSync(join(data, 'media', 'clip.mp4'), '')
    const { engine, getRevision } = await startEngine(data, { EYRIE_LICENSE: 'community' })
    onTestFinished(() => engine.stop())
    const call = getRevision(revision)
    const clip = `file://${data}/media/clip.mp4`
    for (const type of ['file', 'inf']) {
      expect((await call('POST', '/sources', { type, address: clip })).status).toBe(201)
    }
    const written = { file: 'frames.jsonl', video: 'recording.mp4', embedding: 'vectors.jsonl' }
    for (const [type, name] of Object.entries(written)) {
      const answer = await call('POST', '/sinks', {
        type,
        address: `file://${data}/output/${name}`,
      })
      expect([type, answer.status, answer.body.reason]).toEqual([type, 201, undefined])
    }
  },
)
