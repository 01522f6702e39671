// @module-tag long

import {
  type AddressObject,
  type MessageFromMedia,
  type SourceStatus,
  TICKS_PER_SECOND,
} from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import {
  startTamperingProxy,
  type Tamper,
} from '../../../../test/fixtures/cameras/tampering-proxy.ts'
import {
  type AdjustableClock,
  createAdjustableClock,
} from '../../../../test/fixtures/manual-clock.ts'
import {
  type ControlClient,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { startTcpServer } from '../../../../test/fixtures/network/tcp-server.ts'

const MAX_BACKOFF_MS = 30_000
const SILENCE_MS = 5_000
const SENDER_REPORT = 200
const FROM_1900_TO_1970_S = 2_208_988_800
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const toSource = (address: AddressObject) =>
  createDesiredSource({ id: 1, type: 'video', address, views })
const isFrame = (message: MessageFromMedia) => message.type === 'frame'
const isLost = ({ state }: SourceStatus) => state === 'reconnecting'
const isRunning = ({ state }: SourceStatus) => state === 'running'

/** Connects media to a camera through a proxy, and waits for the first frame. */
async function connectThroughProxy(address: Partial<AddressObject> = {}) {
  const clock = createAdjustableClock()
  const media = await serveMedia({ clock })
  const control = await media.connectControl()
  const camera = await startRtspCamera()
  const proxy = await startTamperingProxy(camera)
  await control.apply(toSource({ url: proxy.url, transport: 'tcp', ...address }))
  await control.message('frame', ({ n }) => n > 3)
  return { clock, media, control, camera, proxy }
}

/** Asserts that stream time increases with every frame. */
function expectIncreasingTime({ messages }: ControlClient) {
  const frames = messages.filter(isFrame)
  for (const [i, frame] of frames.entries()) {
    if (i === 0) continue
    expect(frame.n).toBeGreaterThan(frames[i - 1]!.n)
    expect(frame.pts).toBeGreaterThan(frames[i - 1]!.pts)
  }
}

/**
 * Advances the clock to the next attempt and no further, since a new connection may be silent at
 * first.
 */
async function reconnect(control: ControlClient, clock: AdjustableClock) {
  const { next_try_at: nextTryAt } = await control.waitForStatus(
    1,
    status => status.next_try_at !== undefined || isRunning(status),
  )
  if (nextTryAt) clock.advance(MAX_BACKOFF_MS)
  await control.waitForStatus(1, isRunning)
}

const everySecondPacket = (tamper: Tamper): Tamper => {
  let count = 0
  return (packet, kind) => (kind === 'rtp' && count++ % 2 === 0 ? tamper(packet, kind) : [packet])
}

describe('RTSP camera that misbehaves', () => {
  it('counts as lost when its connections hang half-open, and reconnects', async () => {
    const { clock, control, proxy } = await connectThroughProxy()
    proxy.hang()
    const framesBefore = control.messages.filter(isFrame).length
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(
        control.messages.some(message => message.type === 'source' && isLost(message.status)),
      ).toBe(true)
    }, 180_000)
    const { reason, attempts, next_try_at: nextTryAt } = await control.waitForStatus(1, isLost)
    expect(reason).toMatch(
      /has stopped sending, nothing has arrived for 5 s|sends packets, but no complete picture for 5 s/,
    )
    expect(attempts).toBeGreaterThan(0)
    expect(nextTryAt === undefined || Date.parse(nextTryAt) > 0).toBe(true)
    proxy.cut()
    await reconnect(control, clock)
    await control.waitForNextMessage('frame')
    expect(control.messages.filter(isFrame).length).toBeGreaterThan(framesBefore)
    expectIncreasingTime(control)
  }, 180_000)

  it('reconnects after it closes a connection in the middle of a packet', async () => {
    const { clock, control, proxy } = await connectThroughProxy()
    proxy.cut()
    await control.waitForStatus(1, isLost)
    await reconnect(control, clock)
    await control.waitForNextMessage('frame')
    expectIncreasingTime(control)
  })

  it('fails with a reason while it sends garbage packets, and recovers afterwards', async () => {
    const { clock, control, proxy } = await connectThroughProxy()
    proxy.tamper = (packet, kind) => {
      if (kind === 'rtp') for (let i = 12; i < packet.length; i++) packet[i] = (i * 151) % 251
      return [packet]
    }
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(
        control.messages.some(message => message.type === 'source' && isLost(message.status)),
      ).toBe(true)
    }, 180_000)
    expect((await control.waitForStatus(1, isLost)).reason).toContain(proxy.url)
    proxy.tamper = packet => [packet]
    await reconnect(control, clock)
    await control.waitForNextMessage('frame')
    expectIncreasingTime(control)
  }, 180_000)

  it('fails with a reason when it responds with garbage instead of RTSP', async () => {
    const { port } = await startTcpServer(socket =>
      socket.write(Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31) % 251)),
    )
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const url = `rtsp://127.0.0.1:${port}/x`
    await control.apply(toSource({ url, transport: 'tcp' }))
    await vi.waitFor(() => {
      clock.advance(SILENCE_MS)
      expect(
        control.messages.some(message => message.type === 'source' && isLost(message.status)),
      ).toBe(true)
    }, 180_000)
    expect((await control.waitForStatus(1, isLost)).reason).toContain(url)
  }, 180_000)

  it.each(['tcp', 'udp'] as const)(
    'reports the packet loss over %s in percent, and continues to run',
    async transport => {
      const { clock, control, proxy, media } = await connectThroughProxy({ transport })
      /**
       * Loss is reported over five seconds. The clock advances in small steps, so that the camera
       * never counts as silent.
       */
      async function until(matches: (status: SourceStatus) => boolean): Promise<SourceStatus> {
        for (;;) {
          const status = await control.waitForStatus(1, () => true)
          if (matches(status)) return status
          for (let n = 0; n < 5; n++) await control.waitForNextMessage('frame')
          clock.advance(1000)
        }
      }
      proxy.tamper = everySecondPacket(() => [])
      const { loss, reason } = await until(status => (status.loss ?? 0) > 0.4)
      expect(loss).toBeLessThan(0.6)
      expect(reason).toMatch(/loses [45]\d % of its packets/)
      expect((await control.waitForStatus(1, () => true)).state).toBe('running')
      expect(await media.readMetric('eyrie_media_packet_loss', '{source="1"}')).toBeGreaterThan(0.4)
      proxy.tamper = packet => [packet]
      const recovered = await until(status => status.loss === undefined && isRunning(status))
      expect(recovered.reason).toBeUndefined()
      await control.waitForNextMessage('frame')
      expectIncreasingTime(control)
    },
    60_000,
  )

  it('continues with increasing stream time when its time jumps back', async () => {
    const { control, proxy } = await connectThroughProxy()
    const shiftTime =
      (seconds: number): Tamper =>
      (packet, kind) => {
        if (kind === 'rtp') {
          packet.writeUInt32BE((packet.readUInt32BE(4) + seconds * TICKS_PER_SECOND) >>> 0, 4)
        }
        return [packet]
      }
    for (const seconds of [-60, 3600, -0.2, -7200]) {
      proxy.tamper = shiftTime(seconds)
      const { n } = await control.waitForNextMessage('frame')
      await control.waitForNextMessage('frame', frame => frame.n > n + 10)
    }
    expectIncreasingTime(control)
    const frames = control.messages.filter(isFrame)
    const first = frames[0]!
    const last = frames.at(-1)!
    const wallSeconds = (last.time - first.time) / 1e6
    expect((last.pts - first.pts) / TICKS_PER_SECOND).toBeCloseTo(wallSeconds, 0)
  }, 180_000)

  it('provides correct capture times after it reboots with its clock in 1970', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const camera = await startRtspCamera()
    const proxy = await startTamperingProxy(camera)
    await control.apply(toSource({ url: proxy.url, transport: 'tcp' }))
    await control.message('frame', ({ n }) => n > 3)
    await camera.kill()
    proxy.cut()
    const first = await control.waitForStatus(1, isLost)
    clock.advance(MAX_BACKOFF_MS)
    const later = await control.waitForStatus(
      1,
      status => isLost(status) && (status.attempts ?? 0) > first.attempts!,
    )
    expect(later.reason).toContain(proxy.url)

    proxy.tamper = (packet, kind) => {
      if (kind === 'rtcp' && packet[1] === SENDER_REPORT) {
        packet.writeUInt32BE(FROM_1900_TO_1970_S + 60, 8)
      }
      return [packet]
    }
    await startRtspCamera({ port: camera.port })
    await reconnect(control, clock)
    const status = await control.waitForStatus(1, ({ clock }) => clock?.source === 'rtcp')
    expect(status.clock!.skew_s).toBeLessThan(-1e9)
    const { n } = await control.waitForNextMessage('frame')
    const { time } = await control.waitForNextMessage('frame', frame => frame.n > n + 10)
    expect(Math.abs(time / 1000 - clock.wall())).toBeLessThan(5_000)
    expectIncreasingTime(control)
  }, 180_000)

  it('is timed by the arrival of its pictures if it sends no RTCP', async () => {
    const { control, proxy } = await connectThroughProxy()
    proxy.tamper = (packet, kind) => (kind === 'rtcp' ? [] : [packet])
    const status = await control.waitForStatus(1, ({ clock }) => clock !== undefined)
    expect(status.clock).toEqual({ source: 'arrival' })
    const { time } = await control.waitForNextMessage('frame')
    expect(Math.abs(time / 1000 - Date.now())).toBeLessThan(5_000)
  })

  it('continues to be shown and analysed when it changes the picture size', async () => {
    const { control, media, camera } = await connectThroughProxy()
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    onTestFinished(() => socket.close())
    const infos: { width: number }[] = []
    socket.on('message', (data, isBinary) => {
      if (!isBinary) infos.push(JSON.parse(String(data)))
    })
    await vi.waitUntil(() => infos.length === 1)
    camera.enlarge()
    await control.waitForStatus(1, ({ width, height }) => width === 640 && height === 480)
    const { n } = await control.waitForNextMessage('frame')
    await control.waitForNextMessage('frame', frame => frame.n > n + 30)
    await vi.waitUntil(() => infos.length > 1)
    expect(infos.map(({ width }) => width)).toEqual([320, 640])
    expect((await control.waitForStatus(1, () => true)).state).toBe('running')
    expectIncreasingTime(control)
  }, 180_000)
})
