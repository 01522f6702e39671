import { TICKS_PER_SECOND } from '@eyrie/contract'
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

it.each([3600, -86_400])(
  'the capture times of a camera whose clock is %d s ahead are correct',
  async aheadS => {
    const { media, control } = await watch(reports({ aheadS }))
    const { clock } = await control.waitForStatus(1, status => status.clock?.source === 'rtcp')
    expect(clock?.skew_s).toBeCloseTo(aheadS, -0.3)
    // Times approach those of the camera's clock in small steps.
    const frame = await control.waitForNextMessage('frame', each => ageMs(each) >= 0)
    expect(ageMs(frame)).toBeLessThan(3_000)
    expect(await media.readMetric('eyrie_media_clock_skew_seconds', '{source="1"}')).toBeCloseTo(
      aheadS,
      -0.3,
    )
  },
)

it('a picture has the time of its capture, not of its arrival', async () => {
  const { control } = await watch(reports({ aheadS: 0, delayS: 4 }))
  await control.waitForStatus(1, status => status.clock?.source === 'rtcp')
  const frame = await control.waitForNextMessage('frame', each => ageMs(each) > 3_500)
  expect(ageMs(frame)).toBeLessThan(8_000)
})

it('capture times remain correct when the camera clock is set', async () => {
  const { control, proxy } = await watch(reports({ aheadS: 0 }))
  await control.waitForStatus(1, status => status.clock?.source === 'rtcp')
  proxy.tamper = reports({ aheadS: 7200 })
  await control.waitForStatus(1, status => (status.clock?.skew_s ?? 0) > 7000)
  const before = control.messages.filter(({ type }) => type === 'frame').length
  await control.waitForNextMessage('frame', ({ n }) => n > 0)
  const frame = await control.waitForNextMessage('frame')
  expect(Math.abs(ageMs(frame))).toBeLessThan(3_000)
  const times = control.messages
    .flatMap(each => (each.type === 'frame' ? [each] : []))
    .slice(before - 25)
  for (const [i, each] of times.entries()) {
    if (i === 0) continue
    const passed = (each.time - times[i - 1]!.time) / 1e6
    expect(passed).toBeCloseTo((each.pts - times[i - 1]!.pts) / TICKS_PER_SECOND, 1)
  }
}, 180_000)
