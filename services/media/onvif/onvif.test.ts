// @module-tag long

import { describe, expect, it } from 'vitest'
import {
  type OnvifDeviceOptions,
  startOnvifDevice,
} from '../../../test/fixtures/cameras/onvif-device.ts'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import { cameraEgress } from '../../../test/fixtures/network/local-egress.ts'
import { systemClock } from '../runtime/clock.ts'
import { queryDevice } from './onvif-device.ts'
import { DISCOVERY_PORT, discover } from './onvif-discovery.ts'

const login = { user: 'viewer', password: 'p<&>ss' }
const correct = { username: login.user, password: login.password }

async function query(
  options: OnvifDeviceOptions,
  credentials: { username: string; password: string } | undefined = correct,
  limitMs = 10_000,
) {
  const { url } = await startOnvifDevice(options)
  const peer = {
    login: credentials,
    tlsInsecure: false,
    egress: cameraEgress,
    signal: AbortSignal.timeout(limitMs),
  }
  return queryDevice(new URL(url), peer, systemClock)
}

describe('ONVIF device', () => {
  it('describes itself and its streams by profile S', async () => {
    expect(await query({ login })).toEqual({
      manufacturer: 'Acme & Sons',
      model: 'Dome 5',
      firmware: '1.2.3',
      skewMs: expect.closeTo(0, -3.5),
      profiles: [
        {
          name: 'Main',
          profile: 's',
          codec: 'h264',
          width: 1920,
          height: 1080,
          fps: 25,
          url: 'rtsp://127.0.0.1:554/main?channel=1&subtype=0',
          snapshotUrl: 'http://127.0.0.1/snap.jpg',
          videoSource: 'camera1',
        },
      ],
    })
  })

  it('lists profile T first, without passwords from its addresses', async () => {
    const { profiles } = await query({ login, media2: true })
    expect(profiles.map(({ profile, codec, url }) => [profile, codec, url])).toEqual([
      ['t', 'h265', 'rtsp://127.0.0.1/hevc'],
      ['s', 'h264', 'rtsp://127.0.0.1:554/main?channel=1&subtype=0'],
    ])
  })

  it.each([3_600_000, -86_400_000])(
    'accepts a login by its own time if its clock is %d ms ahead',
    async aheadMs => {
      const { skewMs, model } = await query({ login, aheadMs })
      expect(model).toBe('Dome 5')
      expect(skewMs! - aheadMs).toBeCloseTo(0, -3.5)
    },
  )

  it('accepts a login by HTTP Digest', async () => {
    expect(await query({ login, security: 'http-digest' })).toMatchObject({ model: 'Dome 5' })
  })

  it('may lack GetServices', async () => {
    expect((await query({ login, old: true })).profiles).toMatchObject([{ name: 'Main' }])
  })

  it.each([
    ['a wrong password', 'wsse', { ...correct, password: 'wrong' }],
    ['a wrong password by HTTP', 'http-digest', { ...correct, password: 'wrong' }],
    ['no login', 'wsse', undefined],
  ] as const)('refuses %s', async (_, security, credentials) => {
    const { url } = await startOnvifDevice({ login, security })
    const peer = {
      login: credentials,
      tlsInsecure: false,
      egress: cameraEgress,
      signal: AbortSignal.timeout(10_000),
    }
    await expect(queryDevice(new URL(url), peer, systemClock)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.not.stringContaining('wrong'),
    })
  })

  it.each([
    ['malformed XML', 'garbage', /it is not valid XML/],
    ['a document with entity declarations', 'entities', /declares a document type/],
    ['an endless response', 'huge', /more than 1048576 bytes/],
  ] as const)('that sends %s is not considered ONVIF', async (_, answers, reason) => {
    await expect(query({ answers })).rejects.toMatchObject({
      kind: 'not-onvif',
      message: expect.stringMatching(reason),
    })
  })

  it('is given up at the time limit if it never responds', async () => {
    await expect(query({ answers: 'nothing' }, correct, 300)).rejects.toThrow(/abort|timeout/i)
  })
})

describe('WS-Discovery', () => {
  const options = () => ({
    durationMs: 2_000,
    clock: systemClock,
    egress: cameraEgress,
    signal: AbortSignal.timeout(20_000),
  })

  it('finds a device by its address exactly once, and ignores invalid answers', async () => {
    const { url, discoveryPort } = await startOnvifDevice({ media2: true })
    const host = { address: '127.0.0.1', port: discoveryPort }
    expect(await discover({ ...options(), host })).toEqual([
      { url, name: 'Acme Dome', hardware: 'Dome-5', location: 'Entrance', profiles: ['S', 'T'] },
    ])
  })

  it('finds devices by multicast', async () => {
    const devices = [
      await startOnvifDevice({ multicast: true }),
      await startOnvifDevice({ multicast: true }),
    ]
    expect(devices[0]!.discoveryPort).toBe(DISCOVERY_PORT)
    const found = await discover(options())
    expect(found.map(({ url }) => url)).toEqual(
      expect.arrayContaining(devices.map(({ url }) => url)),
    )
  })

  it('finds nothing at an unused address, and can be cancelled', async () => {
    const clock = createAdjustableClock()
    const stop = new AbortController()
    const host = { address: '127.0.0.1', port: 9 }
    const found = discover({ ...options(), host, durationMs: 60_000, clock, signal: stop.signal })
    stop.abort()
    await expect(found).rejects.toThrow(/abort/i)
    expect(await discover({ ...options(), durationMs: 50, host })).toEqual([])
  })
})
