import { type SourceStatus, TICKS_PER_SECOND } from '@eyrie/contract'
import { expect, it } from 'vitest'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import {
  startTamperingProxy,
  type Tamper,
} from '../../../../test/fixtures/cameras/tampering-proxy.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const SENDER_REPORT = 200

/** Changes the sender reports to those of a camera with this clock skew and encoding delay. */
function reports({ aheadS, delayS = 0 }: { aheadS: number; delayS?: number }): Tamper {
  return (packet, kind) => {
    if (kind === 'rtcp' && packet[1] === SENDER_REPORT) {
      packet.writeUInt32BE(packet.readUInt32BE(8) + aheadS, 8)
      packet.writeUInt32BE((packet.readUInt32BE(16) + delayS * TICKS_PER_SECOND) >>> 0, 16)
    }
    return [packet]
  }
}

async function watch(tamper: Tamper) {
  const media = await serveMedia()
  const control = await media.connectControl()
  const proxy = await startTamperingProxy(await startRtspCamera())
  proxy.tamper = tamper
  await control.apply(
    createDesiredSource({
      id: 1,
      type: 'video',
      address: { url: proxy.url, transport: 'tcp' },
      views,
    }),
  )
  return { media, control, proxy }
}

const ageMs = ({ time }: { time: number }) => Date.now() - time / 1000

/**
 * On a busy machine, this thread, which also forwards the reports, stalls for seconds: times are
 * then late until the next report.
 */
const MAX_LATENESS_MS = 3_000
const MAX_STALL_S = 30

const isPrecise = ({ clock }: SourceStatus, aheadS: number) =>
  clock?.source === 'rtcp' && Math.abs((clock.skew_s ?? 0) - aheadS) < 1

it.each([3600, -86_400])(
  'the capture times of a camera whose clock is %d s ahead are correct',
  async aheadS => {
    const { media, control } = await watch(reports({ aheadS }))
    await control.waitForStatus(1, status => isPrecise(status, aheadS))
    // Times approach those of the camera's clock in small steps.
    await control.waitForNextMessage(
      'frame',
      frame => ageMs(frame) >= 0 && ageMs(frame) < MAX_LATENESS_MS,
    )
    const readSkew = () => media.readMetric('eyrie_media_clock_skew_seconds', '{source="1"}')
    await expect.poll(readSkew).toBeCloseTo(aheadS, -0.3)
  },
)

it('a picture has the time of its capture, not of its arrival', async () => {
  const delayMs = 4_000
  const { control } = await watch(reports({ aheadS: 0, delayS: delayMs / 1000 }))
  await control.waitForStatus(1, status => status.clock?.source === 'rtcp')
  await control.waitForNextMessage(
    'frame',
    frame => ageMs(frame) > delayMs - 500 && ageMs(frame) < delayMs + MAX_LATENESS_MS,
  )
})

it('capture times remain correct when the camera clock is set', async () => {
  const { control, proxy } = await watch(reports({ aheadS: 0 }))
  await control.waitForStatus(1, status => status.clock?.source === 'rtcp')
  const before = control.messages.length
  proxy.tamper = reports({ aheadS: 7200 })
  await control.waitForStatus(1, status => isPrecise(status, 7200))
  const { n } = await control.waitForNextMessage('frame')
  await control.waitForNextMessage(
    'frame',
    frame => frame.n > n + 25 && Math.abs(ageMs(frame)) < MAX_LATENESS_MS,
  )
  const frames = control.messages
    .slice(before)
    .flatMap(each => (each.type === 'frame' ? [each] : []))
  const stepsS = frames.slice(1).map((frame, i) => {
    const passedS = (frame.time - frames[i]!.time) / 1e6
    const playedS = (frame.pts - frames[i]!.pts) / TICKS_PER_SECOND
    return Math.abs(passedS - playedS)
  })
  // A stall moves the times of a few frames.
  expect(stepsS.toSorted((a, b) => a - b)[stepsS.length >> 1]).toBeLessThan(0.05)
  expect(Math.max(...stepsS)).toBeLessThan(MAX_STALL_S)
}, 180_000)
