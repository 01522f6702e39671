import { readdirSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { createTurnableClock } from '../../../../test/fixtures/clock.ts'
import { view, wantSource } from '../../../../test/fixtures/control.ts'
import { startRtspCamera } from '../../../../test/fixtures/rtsp-camera.ts'
import { tamperWith } from '../../../../test/fixtures/rtsp-tampering.ts'
import { serveMedia } from '../../../../test/fixtures/serve-media.ts'

const LONG = Boolean(process.env.EYRIE_LONG)
const TIMES = LONG ? 1000 : 100
/** What is made once and kept, such as threads of pools, is there by then. */
const WARM_UP = LONG ? 200 : 30
const LONGEST_BACKOFF_MS = 30_000
const MIB = 1 << 20
/** What allocators keep for themselves: 32 KiB a connection in the long form. */
const MOST_GROWTH_MIB = 32

const views = { grey: view({ format: 'GRAY8', width: 64 }) }

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const used = () => ({
  files: readdirSync('/proc/self/fd').length,
  threads: readdirSync('/proc/self/task').length,
  mib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / (MIB / 1024),
})

test(
  `a camera that comes back ${TIMES} times leaves no memory, file or thread behind`,
  async () => {
    const clock = createTurnableClock()
    const media = await serveMedia({ clock })
    const control = await media.control()
    const proxy = await tamperWith(await startRtspCamera())
    await control.apply(
      wantSource({ id: 1, type: 'video', address: { url: proxy.url, transport: 'tcp' }, views }),
    )
    await control.next('frame')
    let before = used()

    for (let time = 1; time <= WARM_UP + TIMES; time++) {
      if (time === WARM_UP) {
        collectGarbage()
        before = used()
      }
      proxy.cut()
      await control.status(1, ({ next_try_at }) => next_try_at !== undefined)
      control.messages.length = 0
      const again = control.next('frame', ({ discontinuity }) => discontinuity)
      clock.advance(LONGEST_BACKOFF_MS)
      await again
    }

    // The last connection may still be on its way out.
    await vi.waitFor(() => {
      expect(used().files).toBeLessThanOrEqual(before.files + 3)
      expect(used().threads).toBeLessThanOrEqual(before.threads + 3)
    }, 20_000)
    collectGarbage()
    const growthMib = used().mib - before.mib
    console.info(`after ${TIMES} reconnects: ${JSON.stringify({ before, after: used(), growthMib })}`)
    expect(growthMib).toBeLessThan(MOST_GROWTH_MIB)
  },
  TIMES * 5_000,
)
