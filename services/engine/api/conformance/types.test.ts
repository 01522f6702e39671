import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { all, earlier, type Line, latest, prove } from '../../../../test/fixtures/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine.ts'
import { camera, discard, sharedEngine } from '../../../../test/fixtures/shared-engine.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'

/** The types of sources and sinks with their addresses. */

const callOf = sharedEngine()

const accepted =
  (path: string, body: object): Line[2] =>
  async ({ call }) =>
    expect(await call('POST', path, body)).toMatchObject({ status: 201, body })

const refused =
  (path: string, body: object): Line[2] =>
  async ({ call }) => {
    const answer = await call('POST', path, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'syntax'])
    expect(answer.body.reason.startsWith('/address: '), answer.body.reason).toBe(true)
  }

const taken = (kind: 'source' | 'sink', type: string, ...addresses: string[]): Line[] =>
  addresses.map(address => [
    `a ${kind} of type ${type} may be at ${address}`,
    all,
    accepted(`/${kind}s`, { type, address }),
  ])

const lines: Line[] = [
  ...taken('source', 'video', 'rtsp://camera/stream', 'rtsps://camera/stream', 'https://camera/video.mjpg'),
  ...taken('source', 'video', '/dev/video0'),
  ...taken('source', 'hosted_video', 'http://other:8200/streams/1', 'https://other:8200/streams/1'),
  ...taken('source', 'zmq', 'tcp://other:5555?bind=false'),
  ...taken('source', 'zmqinternal', 'inproc://counts'),
  ...taken('source', 'inf', 'test://ball', 'test://'),
  ...taken('sink', 'zmq', 'tcp://127.0.0.1:5555?bind=true&topic=counts'),
  ...taken('sink', 'zmqinternal', 'inproc://counts'),
  ...taken('sink', 'hosted_video', 'stream://entrance', 'stream://door-1', 'stream://door_1'),
  ...taken('sink', 'inf', 'inf://anything'),
  ['a video is no file', all, refused('/sources', { ...camera, address: 'file:///tmp/a.mp4' })],
  [
    'a file lies in a folder from which may be read',
    all,
    refused('/sources', { type: 'file', address: 'file:///etc/passwd' }),
  ],
  ['an infinite file too', all, refused('/sources', { type: 'inf', address: 'file:///etc/passwd' })],
  [
    'a hosted_video is a stream of an engine',
    all,
    refused('/sources', { type: 'hosted_video', address: 'http://other/video' }),
  ],
  [
    'a file sink writes where may be written',
    all,
    refused('/sinks', { type: 'file', address: 'file:///etc/x' }),
  ],
  ['an inf sink is at inf://', all, refused('/sinks', { ...discard, address: 'file:///tmp/x' })],
  [
    'A and B have the same types of sources as C, and no decoder',
    earlier,
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
    latest,
    async ({ call }) => {
      const { components } = (await call('GET', '/openapi.json')).body
      const { decoder } = components.schemas.SourceInput.properties
      expect([decoder.default, decoder.enum.toSorted()]).toEqual(['gst_h264', ['ffmpeg', 'gst', 'gst_h264']])
    },
  ],
]

describe('an address', () => prove(callOf, lines))

test.each(all)('in %s files are read from and written to the folders of the appliance', async revision => {
  const data = temporaryFolder()
  for (const folder of ['media', 'output']) mkdirSync(join(data, folder))
  writeFileSync(join(data, 'media', 'clip.mp4'), '')
  const { engine, callOf } = await startEngine(data, { EYRIE_LICENSE: 'community' })
  onTestFinished(() => engine.stop())
  const call = callOf(revision)
  const clip = `file://${data}/media/clip.mp4`
  for (const type of ['file', 'inf'])
    expect((await call('POST', '/sources', { type, address: clip })).status).toBe(201)
  const written = { file: 'frames.jsonl', video: 'recording.mp4', embedding: 'vectors.jsonl' }
  for (const [type, name] of Object.entries(written)) {
    const answer = await call('POST', '/sinks', { type, address: `file://${data}/output/${name}` })
    expect([type, answer.status, answer.body.reason]).toEqual([type, 201, undefined])
  }
})
