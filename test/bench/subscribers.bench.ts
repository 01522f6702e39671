import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Channel } from '@eyrie/contract'
import { type EngineProcess, startEngineProcess } from '../fixtures/engine-process.ts'
import { type Media, startMedia } from '../fixtures/media.ts'
import { renderedScene } from '../fixtures/scene.ts'
import { type Bench, median } from './bench.ts'
import { treeCpu } from './cpu.ts'

const subscribers = 200
const rate = 10
/** Of the whole machine. */
const load = 0.6
const rounds = 6
const roundMs = 4000
const settleMs = 1000

/**
 * What 200 clients of the output cost the analysis. As many channels run at 10 frames a second as use 60 % of the
 * machine; each client follows the frames of one channel. Rounds with and without clients alternate. What counts
 * is the CPU time of engine, inference workers and media for each analysed frame: by it the analysis becomes slower where
 * the machine is full, and what else the machine does weighs on neighbouring rounds alike. The clients' process is not
 * counted; what the kernel does to deliver to them is, since it does that on the engine's time.
 */
export const bench: Bench = {
  name: `${subscribers} subscribers at ${rate} frames a second: CPU of an analysed frame against none`,
  limit: { atMost: 1.05 },

  async run() {
    const { folder: scene, video } = await renderedScene()
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-subscribers-'))
    const media = await startMedia({ EYRIE_MEDIA_ROOTS: scene })
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      mediaUrl: media.url,
      variables: { EYRIE_MEDIA_ROOTS: scene },
    })
    const clients = fork(join(import.meta.dirname, 'subscribers.ts'))
    try {
      const { channels, share } = await loadMachine(engine, media, video)
      const urls = Array.from({ length: subscribers }, (_, client) => {
        const { id } = channels[client % channels.length] as Channel
        return `${engine.url.replace('http', 'ws')}/api/v3/output?kinds=frame&channels=${id}`
      })
      const [alone, followed] = [[] as number[], [] as number[]]
      let delivered = 0
      for (let round = 0; round < rounds; round += 1) {
        await connect(clients, [])
        alone.push(await cpuPerFrame(engine, media))
        await connect(clients, urls)
        followed.push(await cpuPerFrame(engine, media))
        delivered += await connect(clients, [])
      }
      const seconds = (rounds * (settleMs + roundMs)) / 1000
      return {
        value: median(followed.map((ms, round) => ms / (alone[round] as number))),
        detail: `${channels.length} channels, ${Math.round(share * 100)} % of the machine; ${median(followed).toFixed(2)} against ${median(alone).toFixed(2)} ms a frame; each client got ${(delivered / subscribers / seconds).toFixed(1)} messages a second`,
      }
    } finally {
      clients.kill()
      await engine.stop()
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Runs as many channels as use that share of the machine. Resolves with these and the share that they use. */
async function loadMachine(engine: EngineProcess, media: Media, video: string) {
  const deploy = (count: number) =>
    engine.api.deploy(
      Array.from({ length: count }, (_, n) => ({
        sources: [{ type: 'inf' as const, address: video, rate }],
        elements: [{ name: 'infer', args: { model: 'scene-detector' } }, { name: 'object-tracking' }],
        usecase: `channel ${n}`,
      })),
    )
  await deploy(1)
  await wait(settleMs)
  const shareOf = async (count: number) =>
    (rate * count * (await cpuPerFrame(engine, media))) / 1000 / availableParallelism()
  await deploy(Math.max(1, Math.round(load / (await shareOf(1)))))
  await wait(settleMs)
  const { channels = [] } = await engine.api.getExports({ filter: ['channels'] })
  return { channels, share: await shareOf(channels.length) }
}

/** CPU time of engine, inference workers and media in ms for each frame that channels have analysed. */
async function cpuPerFrame(engine: EngineProcess, media: Media): Promise<number> {
  await wait(settleMs)
  const cpu = () => treeCpu(engine.pid) + treeCpu(media.pid)
  const [framesBefore, before] = [await messages(engine), cpu()]
  await wait(roundMs)
  const used = cpu() - before
  return (used * 1000) / ((await messages(engine)) - framesBefore)
}

/** How many messages the output has numbered: nearly all are frames. */
async function messages({ url }: EngineProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^eyrie_engine_output_messages_total (\d+)/m.exec(metrics)?.[1])
}

async function connect(clients: ChildProcess, urls: string[]): Promise<number> {
  clients.send({ urls })
  const [received] = await once(clients, 'message')
  return received as number
}
