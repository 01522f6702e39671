// @module-tag long

import type { CameraReport } from '@eyrie/contract/camera'
import { cameraReport } from '@eyrie/contract/camera'
import { listen } from '@eyrie/kit'
import { afterEach, describe, expect, it } from 'vitest'
import { startHttpCamera } from '../../../test/fixtures/cameras/http-camera.ts'
import { startOnvifDevice } from '../../../test/fixtures/cameras/onvif-device.ts'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff])
const login = { user: 'viewer', password: 'xyzzy' }

async function post(url: string, address: object) {
  const response = await fetch(`${url}/cameras/test`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(address),
  })
  const text = await response.text()
  expect(text).not.toContain(login.password)
  return { status: response.status, body: JSON.parse(text) }
}

async function testCamera(address: object): Promise<CameraReport> {
  const media = await serveMedia()
  const { status, body } = await post(media.url, address)
  expect([status, body.reason]).toEqual([200, undefined])
  return cameraReport.parse(body)
}

const isJpeg = (picture: string) =>
  Buffer.from(picture, 'base64').subarray(0, 3).equals(JPEG_SIGNATURE)

describe('camera test', () => {
  it.each(['h264', 'h265'] as const)(
    'reports the properties of an RTSP camera in %s, with a picture',
    async codec => {
      const { url } = await startRtspCamera({ codec, sound: true, login })
      const report = await testCamera({
        url,
        username: login.user,
        password: login.password,
        transport: 'tcp',
      })
      expect(report).toMatchObject({
        kind: 'rtsp',
        url,
        codec,
        width: 320,
        height: 240,
        profile: expect.any(String),
        audio: { codec: 'pcma', sample_rate: 8000 },
        packets_lost: 0,
        // Ten pictures; a camera on a busy machine captures fewer of them in a second.
        keyframe_distance_s: expect.closeTo(0.4, -0.6),
        bitrate_kbps: expect.any(Number),
      })
      expect(report.fps).toBeGreaterThan(5)
      expect(report.fps).toBeLessThan(50)
      expect(report.clock.skew_s).toBeCloseTo(0, -0.7)
      expect(isJpeg(report.picture)).toBe(true)
    },
  )

  it('reports B-frames, and names the codec of AAC', async () => {
    const withBFrames = await testCamera({
      url: (await startRtspCamera({ bFrames: 2, audio: 'aac' })).url,
    })
    expect(withBFrames).toMatchObject({ b_frames: true, audio: { codec: 'aac' } })
    const without = await testCamera({ url: (await startRtspCamera()).url })
    expect(without.b_frames).toBe(false)
  })

  it.each(['jpeg', 'mpeg4'] as const)(
    'reports the properties of an RTSP camera in %s',
    async codec => {
      const { url } = await startRtspCamera({ codec })
      expect(await testCamera({ url, transport: 'tcp' })).toMatchObject({
        codec,
        width: 320,
        height: 240,
      })
    },
  )

  it('reports the properties of an HTTP camera', async () => {
    const camera = await startHttpCamera()
    const report = await testCamera({ url: camera.url('/video.mjpg') })
    expect(report).toMatchObject({
      kind: 'http',
      codec: 'jpeg',
      width: 320,
      clock: { source: 'arrival' },
    })
    expect(isJpeg(report.picture)).toBe(true)
  })

  it('reports the streams and clock of an ONVIF device', async () => {
    const camera = await startRtspCamera({ login })
    const device = await startOnvifDevice({
      login,
      stream: `${camera.url}?channel=1&pwd=xyzzy`,
      aheadMs: 3_600_000,
    })
    const report = await testCamera({
      url: device.url,
      username: login.user,
      password: login.password,
      transport: 'tcp',
    })
    expect(report).toMatchObject({
      kind: 'onvif',
      codec: 'h264',
      device: { manufacturer: 'Acme & Sons', model: 'Dome 5' },
      streams: [{ name: 'Main', profile: 's', url: expect.stringContaining('?channel=1&pwd=***') }],
      clock: { skew_s: expect.any(Number) },
    })
  })

  it('names the sub stream of an ONVIF camera', async () => {
    const camera = await startRtspCamera({ login })
    const subStream = 'rtsp://10.9.8.7/sub?token=xyzzy'
    const device = await startOnvifDevice({ login, stream: camera.url, subStream })
    const address = { url: device.url, username: login.user, password: login.password }
    const report = await testCamera({ ...address, transport: 'tcp' })
    expect(report).toMatchObject({ url: camera.url, sub_url: 'rtsp://127.0.0.1/sub?token=***' })
    expect(report.streams?.map(({ name }) => name)).toEqual(['Main', 'Other', 'Sub'])
  })

  const failures: [problem: string, address: () => Promise<object>, reason: RegExp][] = [
    [
      'a wrong password',
      async () => ({
        url: (await startRtspCamera({ login })).url,
        username: 'viewer',
        password: 'xyzzy2',
      }),
      /rejects the user name or password/,
    ],
    [
      'a wrong password for ONVIF',
      async () => ({
        url: (await startOnvifDevice({ login })).url,
        username: 'viewer',
        password: 'xyzzy2',
      }),
      /rejects the user name or password/,
    ],
    [
      'a missing user name',
      async () => ({ url: (await startRtspCamera({ login })).url }),
      /requires authentication: add a user name and password/,
    ],
    [
      'an unused port',
      async () => ({ url: 'rtsp://viewer:xyzzy@127.0.0.1:9/x' }),
      /cannot be reached/,
    ],
    [
      'an unknown path',
      async () => ({ url: `${(await startRtspCamera()).url}x` }),
      /has no stream at this path/,
    ],
    ['a missing device', async () => ({ url: '/dev/video987' }), /connect the camera/],
    [
      'an address of another scheme',
      async () => ({ url: 'gopher://xyzzy' }),
      /invalid RTSP address/,
    ],
    [
      'a camera that never responds',
      async () => ({
        url: `rtsp://127.0.0.1:${(await startTcpServer()).port}/x`,
        transport: 'tcp',
      }),
      /does not respond/,
    ],
  ]

  it.each(failures)('fails with a reason for %s', async (_, address, reason) => {
    const media = await serveMedia()
    const { status, body } = await post(media.url, await address())
    expect([status, body]).toEqual([422, { code: 'camera', reason: expect.stringMatching(reason) }])
  })

  it.each([{}, { url: 5 }, { url: 'rtsp://a', speed: 1 }])(
    'rejects the address %j',
    async address => {
      const media = await serveMedia()
      expect(await post(media.url, address)).toMatchObject({
        status: 400,
        body: { code: 'syntax' },
      })
    },
  )
})

describe('cameras through the engine', () => {
  const stops: (() => unknown)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  async function appliance() {
    const data = createTemporaryFolder()
    const media = await startMediaProcess({ EYRIE_LOG_LEVEL: 'debug' })
    const { engine, call } = await startEngine(data, { EYRIE_MEDIA_URL: media.url })
    const server = await listen(engine, '127.0.0.1', 0)
    stops.push(media.stop, engine.stop, server.close)
    const environment = {
      EYRIE_ENGINE_URL: `http://127.0.0.1:${server.port}`,
      EYRIE_CAMERA_PASSWORD: login.password,
    }
    return { media, call, run: (...args: string[]) => runEyrieCommand(args, { data, environment }) }
  }

  it('are tested from the command line without revealing the password', async () => {
    const { media, call, run } = await appliance()
    const { url } = await startRtspCamera({ login })
    const { out, code } = await run('camera', 'test', url, '--username', login.user)
    expect(code).toBe(0)
    expect(out).toMatch(/^works {2}rtsp:\/\/127\.0\.0\.1:\d+\/camera\n/)
    expect(out).toMatch(/^ {2}size +320×240$/m)
    const withPassword = url.replace('//', `//${login.user}:${login.password}@`)
    const refused = await run('camera', 'test', withPassword)
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('EYRIE_CAMERA_PASSWORD'),
    ])
    const answer = await call('POST', '/cameras/test', {
      url: withPassword.replace('/camera', '/garden'),
    })
    expect([answer.status, answer.body.code]).toEqual([422, 'camera'])
    const output = [...media.lines, out, refused.err, JSON.stringify(answer.body)]
    expect(output.join('\n')).not.toContain(login.password)
  })

  it('are discovered from the API and the command line', async () => {
    const { call, run } = await appliance()
    const { url, discoveryPort } = await startOnvifDevice()
    const host = `127.0.0.1:${discoveryPort}`
    expect((await call('GET', `/cameras/discover?host=${host}`)).body).toMatchObject([
      { url, name: 'Acme Dome' },
    ])
    const { out } = await run('camera', 'discover', '--host', host)
    expect(out).toMatch(
      /^Acme Dome +Dome-5 +Entrance +S +http:\/\/127\.0\.0\.1:\d+\/onvif\/device_service$/m,
    )
    expect((await call('GET', '/cameras/discover?host=a/b')).status).toBe(400)
  })
})
