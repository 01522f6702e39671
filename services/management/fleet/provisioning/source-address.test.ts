import { describe, expect, test } from 'vitest'
import { type StoredPlace, sourceFields } from './source-address.ts'

const stream = { type: '', address: '', protocol: '', port: null, username: '', password: '', fps: null }
const placeOf = (given: Partial<StoredPlace['stream']>, source: Partial<StoredPlace> = {}): StoredPlace => ({
  source_type: '',
  source_address: '',
  source_fps: null,
  stream: { ...stream, ...given },
  ...source,
})

describe('the address of a source on the engine', () => {
  test.each<[string, StoredPlace, unknown]>([
    ["is the stream's, by RTSP", placeOf({ address: '10.0.0.5/main' }), 'rtsp://10.0.0.5/main'],
    [
      'has the protocol and port of the stream',
      placeOf({ address: 'cam.local/video.mjpg', protocol: 'HTTP', port: 8081 }),
      'http://cam.local:8081/video.mjpg',
    ],
    [
      'keeps a port that the address has',
      placeOf({ address: 'cam.local:8554/a', port: 554 }),
      'rtsp://cam.local:8554/a',
    ],
    [
      'puts an IPv6 address into brackets',
      placeOf({ address: 'fe80::1', port: 554 }),
      'rtsp://[fe80::1]:554',
    ],
    ['is a URL as it is', placeOf({ address: 'rtsps://cam/x?y=1', port: 1 }), 'rtsps://cam/x?y=1'],
    [
      'has the credentials of the stream in its long form',
      placeOf({ address: 'cam', username: 'admin', password: 'p@ss:w/rd' }),
      { url: 'rtsp://cam', username: 'admin', password: 'p@ss:w/rd' },
    ],
    [
      'takes credentials out of the URL',
      placeOf({ address: 'rtsp://me:s%40fe@cam/1', username: 'other', password: 'other' }),
      { url: 'rtsp://cam/1', username: 'me', password: 's@fe' },
    ],
    [
      'names a transport',
      placeOf({ address: 'cam/1', protocol: 'tcp' }),
      { url: 'rtsp://cam/1', transport: 'tcp' },
    ],
    [
      "is the source's own, if there is one",
      placeOf({ address: 'cam/1' }, { source_address: 'rtsp://other/2' }),
      'rtsp://other/2',
    ],
    ['may be a device', placeOf({ address: '/dev/video0', port: 5 }), '/dev/video0'],
    ['needs no stream', { ...placeOf({}, { source_address: 'test://ball' }), stream: null }, 'test://ball'],
  ])('%s', (_, place, address) => {
    expect(sourceFields(place)?.address).toEqual(address)
  })

  test('is none where nothing is said', () => {
    expect(sourceFields(placeOf({}))).toBeUndefined()
  })
})

test.each([
  ['rtsp://cam/1', 'video'],
  ['https://cam/1.mjpg', 'video'],
  ['/dev/video0', 'video'],
  ['test://ball', 'inf'],
  ['inproc://objects', 'zmqinternal'],
  ['tcp://other:5555', 'zmq'],
  ['file:///media/a.mp4', 'file'],
])('%s is of type %s where none is given', (source_address, type) => {
  expect(sourceFields(placeOf({}, { source_address }))?.type).toBe(type)
})

test('a type that is given holds', () => {
  expect(sourceFields(placeOf({}, { source_address: '/media/a.mp4', source_type: 'inf' }))?.type).toBe('inf')
  expect(sourceFields(placeOf({ address: '/media/a.mp4', type: 'inf' }))?.type).toBe('inf')
})

test('a type that no engine has decides nothing', () => {
  const stream = { address: '/media/a.mp4', type: 'inf' }
  expect(sourceFields(placeOf(stream, { source_type: 'ip camera' }))?.type).toBe('inf')
  expect(sourceFields(placeOf({ ...stream, type: 'main' }, { source_type: 'ip camera' }))?.type).toBe('file')
})

test("the rate is the source's, else what the stream is to put out, else all frames", () => {
  const fps = { output: 5 }
  expect(sourceFields(placeOf({ address: 'cam', fps }, { source_fps: 2.5 }))?.rate).toBe(2.5)
  expect(sourceFields(placeOf({ address: 'cam', fps }))?.rate).toBe(5)
  expect(sourceFields(placeOf({ address: 'cam' }))?.rate).toBeUndefined()
})
