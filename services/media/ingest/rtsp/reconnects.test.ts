// @module-tag long

import { readdirSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import { startTamperingProxy } from '../../../../test/fixtures/cameras/tampering-proxy.ts'
import {
  type AdjustableClock,
  createAdjustableClock,
} from '../../../../test/fixtures/manual-clock.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'

const LONG = Boolean(process.env.EYRIE_LONG)
const BATCHES = 5
const RECONNECTS_PER_BATCH = LONG ? 200 : 20
/** By then, everything that is created once exists, such as thread pools. */
const WARM_UP = LONG ? 200 : 30
const MAX_BACKOFF_MS = 15_000
const HOUR_MS = 3_600_000
const MIB = 1 << 20
/** Memory retained by allocators: 32 KiB per connection in the long form. */
const MAX_GROWTH_PER_BATCH_MIB = 6.4

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const measureResources = () => ({
  files: readdirSync('/proc/self/fd').length,
  threads: readdirSync('/proc/self/task').length,
  mib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / (MIB / 1024),
})

it(
  `${BATCHES * RECONNECTS_PER_BATCH} reconnects of a camera leak no memory, files or threads`,
  async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const proxy = await startTamperingProxy(await startRtspCamera())
    await control.apply(
      createDesiredSource({
        id: 1,
        type: 'video',
        address: { url: proxy.url, transport: 'tcp' },
        views,
      }),
    )
    await control.waitForNextMessage('frame')

    async function reconnect(times: number) {
      for (let n = 0; n < times; n++) {
        proxy.cut()
        await control.waitForStatus(1, ({ next_try_at }) => next_try_at !== undefined)
        control.messages.length = 0
        const nextFrame = control.waitForNextMessage('frame', ({ discontinuity }) => discontinuity)
        clock.advance(MAX_BACKOFF_MS)
        await nextFrame
      }
      collectGarbage()
      return measureResources()
    }

    const before = await reconnect(WARM_UP)
    const growths: number[] = []
    let last = before
    for (let batch = 0; batch < BATCHES; batch++) {
      const after = await reconnect(RECONNECTS_PER_BATCH)
      growths.push(after.mib - last.mib)
      last = after
    }

    // The last connection may still be closing.
    await vi.waitFor(() => {
      expect(measureResources().files).toBeLessThanOrEqual(before.files + 3)
      expect(measureResources().threads).toBeLessThanOrEqual(before.threads + 3)
    }, 180_000)
    // A leak grows in every batch. What allocators take at once, and keep, grows in one.
    const medianGrowth = growths.toSorted((a, b) => a - b)[BATCHES >> 1]
    console.info(`reconnects: ${JSON.stringify({ before, last, growths })}`)
    expect(medianGrowth).toBeLessThan(MAX_GROWTH_PER_BATCH_MIB)
    expect(last.mib - before.mib).toBeLessThan(2 * BATCHES * MAX_GROWTH_PER_BATCH_MIB)
  },
  BATCHES * RECONNECTS_PER_BATCH * 5_000,
)

/** A clock on which every back-off lasts an hour. */
function withEndlessPauses(clock: AdjustableClock): AdjustableClock {
  return { ...clock, sleep: (_, signal) => clock.sleep(HOUR_MS, signal) }
}

it('a camera that was off is connected as soon as it accepts connections, despite a long back-off', async () => {
  const media = await serveMedia({ clock: withEndlessPauses(createAdjustableClock()) })
  const control = await media.connectControl()
  const { kill, port, url } = await startRtspCamera()
  await control.apply(
    createDesiredSource({ id: 1, type: 'video', address: { url, transport: 'tcp' }, views }),
  )
  await control.waitForNextMessage('frame')

  await kill()
  await control.waitForStatus(1, ({ next_try_at }) => next_try_at !== undefined)
  const nextFrame = control.waitForNextMessage('frame', ({ discontinuity }) => discontinuity)
  await startRtspCamera({ port })
  await nextFrame
}, 180_000)
