import { describe, expect, it } from 'vitest'
import { type StoredSource, toSourceFields } from './source-fields.ts'

const stream = {
  type: '',
  address: '',
  protocol: '',
  port: null,
  username: '',
  password: '',
  fps: null,
}
const storedSource = (
  fields: Partial<StoredSource['stream']>,
  source: Partial<StoredSource> = {},
): StoredSource => ({
  source_type: '',
  source_address: '',
  source_fps: null,
  stream: { ...stream, ...fields },
  sub_stream: null,
  ...source,
})

describe('source address', () => {
  it.each<[string, StoredSource, unknown]>([
    [
      "is the stream's address with the RTSP scheme",
      storedSource({ address: '10.0.0.5/main' }),
      'rtsp://10.0.0.5/main',
    ],
    [
      'includes the protocol and port of the stream',
      storedSource({ address: 'cam.local/video.mjpg', protocol: 'HTTP', port: 8081 }),
      'http://cam.local:8081/video.mjpg',
    ],
    [
      'prefers the port in the address to the port of the stream',
      storedSource({ address: 'cam.local:8554/a', port: 554 }),
      'rtsp://cam.local:8554/a',
    ],
    [
      'encloses an IPv6 address in brackets',
      storedSource({ address: 'fe80::1', port: 554 }),
      'rtsp://[fe80::1]:554',
    ],
    [
      'leaves a complete URL unchanged',
      storedSource({ address: 'rtsps://cam/x?y=1', port: 1 }),
      'rtsps://cam/x?y=1',
    ],
    [
      'includes the credentials of the stream in the long form',
      storedSource({ address: 'cam', username: 'admin', password: 'p@ss:w/rd' }),
      { url: 'rtsp://cam', username: 'admin', password: 'p@ss:w/rd' },
    ],
    [
      'moves credentials from the URL into the long form',
      storedSource({ address: 'rtsp://me:s%40fe@cam/1', username: 'other', password: 'other' }),
      { url: 'rtsp://cam/1', username: 'me', password: 's@fe' },
    ],
    [
      'includes the transport',
      storedSource({ address: 'cam/1', protocol: 'tcp' }),
      { url: 'rtsp://cam/1', transport: 'tcp' },
    ],
    [
      "prefers the source's own address to the stream's",
      storedSource({ address: 'cam/1' }, { source_address: 'rtsp://other/2' }),
      'rtsp://other/2',
    ],
    [
      'includes the credentials of the stream if the source has another path on its server',
      storedSource(
        { address: 'cam', port: 554, username: 'admin', password: 'secret' },
        { source_address: 'rtsp://cam/2' },
      ),
      { url: 'rtsp://cam/2', username: 'admin', password: 'secret' },
    ],
    [
      'does not include the credentials of the stream if the source is on another server',
      storedSource(
        { address: 'cam', username: 'admin', password: 'secret' },
        { source_address: 'rtsp://attacker/2' },
      ),
      'rtsp://attacker/2',
    ],
    ['accepts a device path', storedSource({ address: '/dev/video0', port: 5 }), '/dev/video0'],
    [
      'does not require a stream',
      { ...storedSource({}, { source_address: 'test://ball' }), stream: null },
      'test://ball',
    ],
  ])('%s', (_, source, address) => {
    expect(toSourceFields(source)?.address).toEqual(address)
  })

  it('is undefined without any configured address', () => {
    expect(toSourceFields(storedSource({}))).toBeUndefined()
  })
})

describe('source address with a sub stream', () => {
  const main = { address: '10.0.0.5/main', username: 'admin', password: 'secret', protocol: 'tcp' }
  const withSub = (
    fields: Partial<NonNullable<StoredSource['stream']>>,
    source: Partial<StoredSource> = {},
  ) =>
    toSourceFields(storedSource(main, { sub_stream: { ...stream, ...fields }, ...source }))?.address

  it('contains the URL of the sub stream', () => {
    expect(withSub({ address: '10.0.0.5/sub', username: 'admin', password: 'secret' })).toEqual({
      url: 'rtsp://10.0.0.5/main',
      sub_url: 'rtsp://10.0.0.5/sub',
      username: 'admin',
      password: 'secret',
      transport: 'tcp',
    })
  })

  it('contains credentials of the sub stream only if they differ', () => {
    expect(withSub({ address: '10.0.0.5/sub' })).toMatchObject({ sub_url: 'rtsp://10.0.0.5/sub' })
    expect(withSub({ address: 'rtsp://other:p%40ss@10.0.0.5/sub' })).toMatchObject({
      sub_url: 'rtsp://other:p%40ss@10.0.0.5/sub',
    })
  })

  it('is the long form even if the main stream has only a URL', () => {
    const fields = storedSource(
      { address: 'cam/1' },
      { sub_stream: { ...stream, address: 'cam/2' } },
    )
    expect(toSourceFields(fields)?.address).toEqual({
      url: 'rtsp://cam/1',
      sub_url: 'rtsp://cam/2',
    })
  })

  it('omits a sub stream that has no address, is the main stream, or belongs to a file', () => {
    expect(withSub({})).not.toHaveProperty('sub_url')
    expect(withSub({ address: '10.0.0.5/main' })).not.toHaveProperty('sub_url')
    expect(withSub({ address: '10.0.0.5/sub' }, { source_address: '/media/a.mp4' })).toBe(
      '/media/a.mp4',
    )
  })
})

describe('source type', () => {
  it.each([
    ['rtsp://cam/1', 'video'],
    ['https://cam/1.mjpg', 'video'],
    ['/dev/video0', 'video'],
    ['test://ball', 'inf'],
    ['inproc://objects', 'zmqinternal'],
    ['tcp://other:5555', 'zmq'],
    ['file:///media/a.mp4', 'file'],
  ])('is inferred from the address %s as %s', (sourceAddress, type) => {
    expect(toSourceFields(storedSource({}, { source_address: sourceAddress }))?.type).toBe(type)
  })

  it('is the configured type of the source or the stream', () => {
    expect(
      toSourceFields(storedSource({}, { source_address: '/media/a.mp4', source_type: 'inf' }))
        ?.type,
    ).toBe('inf')
    expect(toSourceFields(storedSource({ address: '/media/a.mp4', type: 'inf' }))?.type).toBe('inf')
  })

  it('ignores types that engines do not support', () => {
    const stream = { address: '/media/a.mp4', type: 'inf' }
    expect(toSourceFields(storedSource(stream, { source_type: 'ip camera' }))?.type).toBe('inf')
    expect(
      toSourceFields(storedSource({ ...stream, type: 'main' }, { source_type: 'ip camera' }))?.type,
    ).toBe('file')
  })
})

describe('source rate', () => {
  it("is the source's rate, then the stream's output rate, then undefined for all frames", () => {
    const fps = { output: 5 }
    expect(toSourceFields(storedSource({ address: 'cam', fps }, { source_fps: 2.5 }))?.rate).toBe(
      2.5,
    )
    expect(toSourceFields(storedSource({ address: 'cam', fps }))?.rate).toBe(5)
    expect(toSourceFields(storedSource({ address: 'cam' }))?.rate).toBeUndefined()
  })
})
