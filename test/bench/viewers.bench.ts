import { setTimeout as wait } from 'node:timers/promises'
import { connectControl, createDesiredSource } from '../fixtures/media/control-client.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { type Bench, median } from './bench.ts'
import { processCpu } from './cpu.ts'
import { startSubscribers } from './subscribers.ts'

const viewers = 10
const rounds = 4
const roundMs = 4000
const warmUpMs = 1000

/**
 * CPU time of media with and without ten viewers over WebSocket, who share the camera's own
 * packets as fragmented MP4. Rounds with and without viewers alternate. The viewers' own
 * process does not count.
 */
export const bench: Bench = {
  name: `share of one core per viewer, of ${viewers} viewers of one camera over WebSocket`,
  limit: { max: 3 },
  unit: ' %',

  async run() {
    const { folder, video } = await renderTestScene()
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    const clients = startSubscribers()
    try {
      const control = await connectControl(media.url)
      await control.apply(createDesiredSource({ id: 1, type: 'inf', url: video }))
      const { width, height, fps } = await control.waitForStatus(
        1,
        ({ state }) => state === 'running',
      )
      const urls = Array.from(
        { length: viewers },
        () => `${media.url.replace('http', 'ws')}/streams/1/ws`,
      )

      const [idle, watched] = [[] as number[], [] as number[]]
      let received = 0
      for (let round = 0; round < rounds; round += 1) {
        received += await clients.connect([])
        idle.push(await cpuShare(media.pid))
        await clients.connect(urls)
        watched.push(await cpuShare(media.pid))
      }
      received += await clients.connect([])
      control.close()
      const seconds = (rounds * (warmUpMs + roundMs)) / 1000
      const rate = received / viewers / seconds
      return {
        samples: watched.map((share, round) => (share - idle[round]!) / viewers),
        loads: [
          {
            name: 'messages/s received by each viewer',
            min: 0.9 * (fps ?? Number.NaN),
            actual: rate,
          },
        ],
        detail: `${width}×${height} at ${fps?.toFixed(0)} frames/s; media used ${median(idle).toFixed(1)} % of a core idle and ${median(watched).toFixed(1)} % watched; each viewer received ${rate.toFixed(1)} messages/s`,
      }
    } finally {
      clients.stop()
      await media.stop()
    }
  },
}

/** CPU time of a process in per cent of one core. */
async function cpuShare(pid: number): Promise<number> {
  await wait(warmUpMs)
  const [before, startedAt] = [processCpu(pid), performance.now()]
  await wait(roundMs)
  return ((processCpu(pid) - before) * 100_000) / (performance.now() - startedAt)
}
