import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { connectControl, wantSource } from '../fixtures/control.ts'
import { startMedia } from '../fixtures/media.ts'
import { renderedScene } from '../fixtures/scene.ts'
import { type Bench, median } from './bench.ts'
import { processCpu } from './cpu.ts'

const viewers = 10
const rounds = 4
const roundMs = 4000
const settleMs = 1000

/**
 * What a viewer of a camera costs: CPU time of media, with and without ten viewers over WebSocket, who share the camera's
 * own packets as fragmented MP4. Rounds with and without them alternate. The viewers' process is not counted.
 */
export const bench: Bench = {
  name: `each of ${viewers} viewers of one camera over WebSocket, of one core`,
  limit: { atMost: 3 },
  unit: ' %',

  async run() {
    const { folder, video } = await renderedScene()
    const media = await startMedia({ EYRIE_MEDIA_ROOTS: folder })
    const clients = fork(join(import.meta.dirname, 'subscribers.ts'))
    try {
      const control = await connectControl(media.url)
      await control.apply(wantSource({ id: 1, type: 'inf', url: video }))
      const { width, height, fps } = await control.status(1, ({ state }) => state === 'running')
      const urls = Array.from({ length: viewers }, () => `${media.url.replace('http', 'ws')}/streams/1/ws`)

      const [alone, watched] = [[] as number[], [] as number[]]
      let received = 0
      for (let round = 0; round < rounds; round += 1) {
        received += await connect(clients, [])
        alone.push(await cpuShare(media.pid))
        await connect(clients, urls)
        watched.push(await cpuShare(media.pid))
      }
      received += await connect(clients, [])
      control.close()
      const seconds = (rounds * (settleMs + roundMs)) / 1000
      const rate = received / viewers / seconds
      return {
        value: median(watched.map((share, round) => (share - (alone[round] as number)) / viewers)),
        detail: `${width}×${height} at ${fps?.toFixed(0)} frames a second; media used ${median(alone).toFixed(1)} % of a core alone and ${median(watched).toFixed(1)} % watched; each viewer got ${rate.toFixed(1)} messages a second`,
      }
    } finally {
      clients.kill()
      await media.stop()
    }
  },
}

/** Per cent of one core. */
async function cpuShare(pid: number): Promise<number> {
  await wait(settleMs)
  const [before, beganAt] = [processCpu(pid), performance.now()]
  await wait(roundMs)
  return ((processCpu(pid) - before) * 100_000) / (performance.now() - beganAt)
}

async function connect(clients: ChildProcess, urls: string[]): Promise<number> {
  clients.send({ urls })
  const [received] = await once(clients, 'message')
  return received as number
}
