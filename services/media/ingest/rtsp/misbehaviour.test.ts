import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { AddressObject, MessageFromMedia, SourceStatus } from '@eyrie/contract'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createTurnableClock, type TurnableClock } from '../../../../test/fixtures/clock.ts'
import { type ControlClient, view, wantSource } from '../../../../test/fixtures/control.ts'
import { startRtspCamera } from '../../../../test/fixtures/rtsp-camera.ts'
import { type Tamper, tamperWith } from '../../../../test/fixtures/rtsp-tampering.ts'
import { serveMedia } from '../../../../test/fixtures/serve-media.ts'

const LONGEST_BACKOFF_MS = 30_000
const SILENCE_MS = 5_000
const SENDER_REPORT = 200
const FROM_1900_TO_1970_S = 2_208_988_800
const views = { grey: view({ format: 'GRAY8', width: 64 }) }
const watched = (address: AddressObject) => wantSource({ id: 1, type: 'video', address, views })
const isFrame = (message: MessageFromMedia) => message.type === 'frame'
const isLost = ({ state }: SourceStatus) => state === 'reconnecting'
const runs = ({ state }: SourceStatus) => state === 'running'

/** Media that watches a camera through a proxy, from its first frame on. */
async function watch(address: Partial<AddressObject> = {}) {
  const clock = createTurnableClock()
  const media = await serveMedia({ clock })
  const control = await media.control()
  const camera = await startRtspCamera()
  const proxy = await tamperWith(camera)
  await control.apply(watched({ url: proxy.url, transport: 'tcp', ...address }))
  await control.message('frame', ({ n }) => n > 3)
  return { clock, media, control, camera, proxy }
}

/** Stream time has gone on with every frame, whatever has happened. */
function expectGrowth({ messages }: ControlClient) {
  const frames = messages.filter(isFrame)
  for (const [i, frame] of frames.entries()) {
    if (i === 0) continue
    expect(frame.n).toBeGreaterThan(frames[i - 1]!.n)
    expect(frame.pts).toBeGreaterThan(frames[i - 1]!.pts)
  }
}

/** Lets time pass until the next try, and no further: a new connection may be silent at first. */
async function revive(control: ControlClient, clock: TurnableClock) {
  const { next_try_at } = await control.status(1, status => status.next_try_at !== undefined || runs(status))
  if (next_try_at) clock.advance(LONGEST_BACKOFF_MS)
  await control.status(1, runs)
}

const everySecond = (tamper: Tamper): Tamper => {
  let count = 0
  return (packet, kind) => (kind === 'rtp' && count++ % 2 === 0 ? tamper(packet, kind) : [packet])
}

describe('a camera that misbehaves', () => {
  test('and lets connections hang half-open is given up, and found again', async () => {
    const { clock, control, proxy } = await watch()
    proxy.hang()
    const seen = control.messages.filter(isFrame).length
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(control.messages.some(message => message.type === 'source' && isLost(message.status))).toBe(true)
    }, 20_000)
    const { reason, attempts, next_try_at } = await control.status(1, isLost)
    expect(reason).toMatch(/has sent \d+ packets and for 5 s no picture among them|has sent nothing for 5 s/)
    expect(attempts).toBeGreaterThan(0)
    expect(next_try_at === undefined || Date.parse(next_try_at) > 0).toBe(true)
    proxy.cut()
    await revive(control, clock)
    await control.next('frame')
    expect(control.messages.filter(isFrame).length).toBeGreaterThan(seen)
    expectGrowth(control)
  }, 90_000)

  test('and breaks connections off in the middle of a packet is found again', async () => {
    const { clock, control, proxy } = await watch()
    proxy.cut()
    await control.status(1, isLost)
    await revive(control, clock)
    await control.next('frame')
    expectGrowth(control)
  })

  test('and sends packets full of garbage is told of, and shown again once it sends pictures', async () => {
    const { clock, control, proxy } = await watch()
    proxy.tamper = (packet, kind) => {
      if (kind === 'rtp') for (let i = 12; i < packet.length; i++) packet[i] = (i * 151) % 251
      return [packet]
    }
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(control.messages.some(message => message.type === 'source' && isLost(message.status))).toBe(true)
    }, 20_000)
    proxy.tamper = packet => [packet]
    await revive(control, clock)
    await control.next('frame')
    expectGrowth(control)
  }, 60_000)

  test('and answers with garbage instead of RTSP is told of', async () => {
    const garbage = createServer(socket => {
      socket.on('error', () => {})
      socket.write(Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31) % 251))
    }).listen(0, '127.0.0.1')
    await once(garbage, 'listening')
    onTestFinished(() => void garbage.close())
    const clock = createTurnableClock()
    const media = await serveMedia({ clock })
    const control = await media.control()
    const url = `rtsp://127.0.0.1:${(garbage.address() as AddressInfo).port}/x`
    await control.apply(watched({ url, transport: 'tcp' }))
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(control.messages.some(message => message.type === 'source' && isLost(message.status))).toBe(true)
    }, 20_000)
    expect((await control.status(1, isLost)).reason).toContain(url)
  }, 60_000)

  test.each(['tcp', 'udp'] as const)(
    'and loses half of its packets by %s says so in numbers, and goes on',
    async transport => {
      const { clock, control, proxy, media } = await watch({ transport })
      /** Loss is told of over five seconds: they pass a little at a time, so that the camera is never silent for as long. */
      async function until(fits: (status: SourceStatus) => boolean): Promise<SourceStatus> {
        for (;;) {
          const status = await control.status(1, () => true)
          if (fits(status)) return status
          for (let n = 0; n < 5; n++) await control.next('frame')
          clock.advance(1000)
        }
      }
      proxy.tamper = everySecond(() => [])
      const { loss, reason } = await until(status => (status.loss ?? 0) > 0.4)
      expect(loss).toBeLessThan(0.6)
      expect(reason).toMatch(/loses [45]\d % of its packets/)
      expect((await control.status(1, () => true)).state).toBe('running')
      expect(await media.metric('eyrie_media_packet_loss', '{source="1"}')).toBeGreaterThan(0.4)
      proxy.tamper = packet => [packet]
      const well = await until(status => status.loss === undefined && runs(status))
      expect(well.reason).toBeUndefined()
      await control.next('frame')
      expectGrowth(control)
    },
    60_000,
  )

  test('and whose time jumps back goes on in a stream time that never runs backwards', async () => {
    const { control, proxy } = await watch()
    const shifted =
      (seconds: number): Tamper =>
      (packet, kind) => {
        if (kind === 'rtp') packet.writeUInt32BE((packet.readUInt32BE(4) + seconds * 90_000) >>> 0, 4)
        return [packet]
      }
    for (const seconds of [-60, 3600, -0.2, -7200]) {
      proxy.tamper = shifted(seconds)
      const { n } = await control.next('frame')
      await control.next('frame', frame => frame.n > n + 10)
    }
    expectGrowth(control)
    const frames = control.messages.filter(isFrame)
    const [first, last] = [frames[0]!, frames.at(-1)!]
    const wallSeconds = (last.time - first.time) / 1e6
    expect((last.pts - first.pts) / 90_000).toBeCloseTo(wallSeconds, 0)
  }, 60_000)

  test('and reboots, and takes its clock to be in 1970, is waited for and dated as before', async () => {
    const clock = createTurnableClock()
    const media = await serveMedia({ clock })
    const control = await media.control()
    const camera = await startRtspCamera()
    const proxy = await tamperWith(camera)
    await control.apply(watched({ url: proxy.url, transport: 'tcp' }))
    await control.message('frame', ({ n }) => n > 3)
    await camera.kill()
    proxy.cut()
    const first = await control.status(1, isLost)
    clock.advance(LONGEST_BACKOFF_MS)
    const later = await control.status(
      1,
      status => isLost(status) && (status.attempts ?? 0) > first.attempts!,
    )
    expect(later.reason).toContain(proxy.url)

    proxy.tamper = (packet, kind) => {
      if (kind === 'rtcp' && packet[1] === SENDER_REPORT) packet.writeUInt32BE(FROM_1900_TO_1970_S + 60, 8)
      return [packet]
    }
    await startRtspCamera({ port: camera.port })
    await revive(control, clock)
    const status = await control.status(1, ({ clock }) => clock?.source === 'rtcp')
    expect(status.clock!.skew_s).toBeLessThan(-1e9)
    const { n } = await control.next('frame')
    const { time } = await control.next('frame', frame => frame.n > n + 10)
    expect(Math.abs(time / 1000 - clock.wall())).toBeLessThan(5_000)
    expectGrowth(control)
  }, 90_000)

  test('and sends no RTCP is dated by the arrival of its pictures', async () => {
    const { control, proxy } = await watch()
    proxy.tamper = (packet, kind) => (kind === 'rtcp' ? [] : [packet])
    const status = await control.status(1, ({ clock }) => clock !== undefined)
    expect(status.clock).toEqual({ source: 'arrival' })
    const { time } = await control.next('frame')
    expect(Math.abs(time / 1000 - Date.now())).toBeLessThan(5_000)
  })

  test('and changes the size of its picture is shown and analysed on', async () => {
    const { control, media, camera } = await watch()
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    onTestFinished(() => socket.close())
    const infos: { width: number }[] = []
    socket.on('message', (data, isBinary) => {
      if (!isBinary) infos.push(JSON.parse(String(data)))
    })
    await vi.waitUntil(() => infos.length === 1)
    camera.enlarge()
    await control.status(1, ({ width, height }) => width === 640 && height === 480)
    const { n } = await control.next('frame')
    await control.next('frame', frame => frame.n > n + 30)
    await vi.waitUntil(() => infos.length > 1)
    expect(infos.map(({ width }) => width)).toEqual([320, 640])
    expect((await control.status(1, () => true)).state).toBe('running')
    expectGrowth(control)
  }, 60_000)
})
