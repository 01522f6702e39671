import { describe, expect, test } from 'vitest'
import { createTurnableClock } from '../../../test/fixtures/clock.ts'
import { type OnvifDeviceOptions, startOnvifDevice } from '../../../test/fixtures/onvif-device.ts'
import { systemClock } from '../runtime/clock.ts'
import { askDevice } from './onvif-device.ts'
import { DISCOVERY_PORT, discover } from './onvif-discovery.ts'

const login = { user: 'viewer', password: 'p<&>ss' }
const right = { username: login.user, password: login.password }

async function ask(
  options: OnvifDeviceOptions,
  given: { username: string; password: string } | undefined = right,
  limitMs = 10_000,
) {
  const { url } = await startOnvifDevice(options)
  const peer = { login: given, tlsInsecure: false, signal: AbortSignal.timeout(limitMs) }
  return askDevice(new URL(url), peer, systemClock)
}

describe('an ONVIF device', () => {
  test('says what it is and which streams it has by profile S', async () => {
    expect(await ask({ login })).toEqual({
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
        },
      ],
    })
  })

  test('has those of profile T first, and no password that it writes into an address itself', async () => {
    const { profiles } = await ask({ login, media2: true })
    expect(profiles.map(({ profile, codec, url }) => [profile, codec, url])).toEqual([
      ['t', 'h265', 'rtsp://127.0.0.1/hevc'],
      ['s', 'h264', 'rtsp://127.0.0.1:554/main?channel=1&subtype=0'],
    ])
  })

  test.each([3_600_000, -86_400_000])(
    'whose clock is %d ms ahead lets in who logs in by its time',
    async aheadMs => {
      const { skewMs, model } = await ask({ login, aheadMs })
      expect(model).toBe('Dome 5')
      expect(skewMs! - aheadMs).toBeCloseTo(0, -3.5)
    },
  )

  test('may want the login by HTTP', async () => {
    expect(await ask({ login, security: 'http-digest' })).toMatchObject({ model: 'Dome 5' })
  })

  test('may be too old for GetServices', async () => {
    expect((await ask({ login, old: true })).profiles).toMatchObject([{ name: 'Main' }])
  })

  test.each([
    ['a wrong password', 'wsse', { ...right, password: 'wrong' }],
    ['a wrong password by HTTP', 'http-digest', { ...right, password: 'wrong' }],
    ['no login', 'wsse', undefined],
  ] as const)('refuses %s, and it is told so', async (_, security, given) => {
    const { url } = await startOnvifDevice({ login, security })
    const peer = { login: given, tlsInsecure: false, signal: AbortSignal.timeout(10_000) }
    await expect(askDevice(new URL(url), peer, systemClock)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.not.stringContaining('wrong'),
    })
  })

  test.each([
    ['malformed XML', 'garbage', /it is no XML/],
    ['a document with entities of its own', 'entities', /declares a document type/],
    ['an answer without end', 'huge', /more than 1048576 bytes/],
  ] as const)('that sends %s does not speak ONVIF', async (_, answers, reason) => {
    await expect(ask({ answers })).rejects.toMatchObject({
      kind: 'not-onvif',
      message: expect.stringMatching(reason),
    })
  })

  test('that never answers is given up when time is over', async () => {
    await expect(ask({ answers: 'nothing' }, right, 300)).rejects.toThrow(/abort|timeout/i)
  })
})

describe('discovery', () => {
  const wait = () => ({ patienceMs: 2_000, clock: systemClock, signal: AbortSignal.timeout(20_000) })

  test('finds a device by its address, once, and passes over what is no answer', async () => {
    const { url, discoveryPort } = await startOnvifDevice({ media2: true })
    const host = { address: '127.0.0.1', port: discoveryPort }
    expect(await discover({ ...wait(), host })).toEqual([
      { url, name: 'Acme Dome', hardware: 'Dome-5', location: 'Entrance', profiles: ['S', 'T'] },
    ])
  })

  test('finds devices near by multicast', async () => {
    const devices = [await startOnvifDevice({ multicast: true }), await startOnvifDevice({ multicast: true })]
    expect(devices[0]!.discoveryPort).toBe(DISCOVERY_PORT)
    const found = await discover(wait())
    expect(found.map(({ url }) => url)).toEqual(expect.arrayContaining(devices.map(({ url }) => url)))
  })

  test('finds nobody where nobody is, and ends when it is no longer wanted', async () => {
    const clock = createTurnableClock()
    const stop = new AbortController()
    const host = { address: '127.0.0.1', port: 9 }
    const found = discover({ host, patienceMs: 60_000, clock, signal: stop.signal })
    stop.abort()
    await expect(found).rejects.toThrow(/abort/i)
    expect(await discover({ ...wait(), patienceMs: 50, host })).toEqual([])
  })
})
