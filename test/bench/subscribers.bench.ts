import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Channel } from '@eyrie/contract'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { parseExposition } from '../fixtures/network/prometheus.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'
import { type Bench, median } from './bench.ts'
import { treeCpu } from './cpu.ts'
import { startSubscribers } from './subscribers.ts'

const subscribers = 200
const rate = 10
/** Share of the whole machine that the channels use. */
const targetShare = 0.6
const shareTolerance = 0.05
const maxLoadAttempts = 4
const rounds = 6
const roundMs = 4000
const warmUpMs = 1000

/**
 * What 200 subscribers to the output cost the analysis. Enough channels run at 10 frames/s to use
 * 60 % of the machine; each client subscribes to the frames of one channel. Rounds with and without
 * clients alternate, and each ratio compares two neighbouring rounds. The figure is CPU time of
 * engine, inference workers and media per analysed frame: what a full machine would lose in
 * throughput. The clients' own process does not count; the kernel's work of delivering to them
 * does, because it runs on the engine's time.
 */
export const bench: Bench = {
  name: `CPU time per analysed frame with ${subscribers} subscribers at ${rate} frames/s against none`,
  limit: { max: 1.05 },

  async run() {
    const { folder: scene, video } = await renderTestScene()
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-subscribers-'))
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: scene })
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      media,
      variables: { EYRIE_MEDIA_ROOTS: scene },
    })
    const clients = startSubscribers()
    try {
      const { channels, share } = await loadMachine(engine, media, video)
      const urls = Array.from({ length: subscribers }, (_, client) => {
        const { id } = channels[client % channels.length] as Channel
        return `${engine.url.replace('http', 'ws')}/api/v3/output?kinds=frame&channels=${id}`
      })
      const [idle, subscribed] = [[] as number[], [] as number[]]
      let delivered = 0
      for (let round = 0; round < rounds; round += 1) {
        await clients.connect([])
        idle.push(await cpuPerFrame(engine, media))
        await clients.connect(urls)
        subscribed.push(await cpuPerFrame(engine, media))
        delivered += await clients.connect([])
      }
      const seconds = (rounds * (warmUpMs + roundMs)) / 1000
      const messageRate = delivered / subscribers / seconds
      return {
        samples: subscribed.map((ms, round) => ms / idle[round]!),
        loads: [
          {
            name: 'share of the machine used',
            min: targetShare - 2 * shareTolerance,
            actual: share,
          },
          { name: 'messages/s received by each client', min: 0.9 * rate, actual: messageRate },
        ],
        detail: `${channels.length} channels, ${Math.round(share * 100)} % of the machine; ${median(subscribed).toFixed(2)} against ${median(idle).toFixed(2)} ms per frame; each client received ${messageRate.toFixed(1)} messages/s`,
      }
    } finally {
      clients.stop()
      await engine.stop()
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Deploys as many channels as use the target share of the machine. */
async function loadMachine(engine: EngineProcess, media: MediaProcess, video: string) {
  const deploy = (count: number) =>
    engine.api.deploy(
      Array.from({ length: count }, (_, n) => ({
        sources: [{ type: 'inf' as const, address: video, rate }],
        elements: [
          { name: 'infer', args: { model: 'scene-detector' } },
          { name: 'object-tracking' },
        ],
        usecase: `channel ${n}`,
      })),
    )
  const measureShare = async (count: number) =>
    (rate * count * (await cpuPerFrame(engine, media))) / 1000 / availableParallelism()

  let count = 1
  for (let attempt = 1; ; attempt++) {
    await deploy(count)
    await wait(warmUpMs)
    const share = await measureShare(count)
    if (attempt === maxLoadAttempts || Math.abs(share - targetShare) <= shareTolerance) {
      const { channels = [] } = await engine.api.getExports({ filter: ['channels'] })
      return { channels, share }
    }
    // A frame of one channel among many costs less than one of a single channel, so
    // one step is not enough.
    count = Math.max(1, Math.round((count * targetShare) / share))
  }
}

/** CPU milliseconds of engine, inference workers and media per analysed frame. */
async function cpuPerFrame(engine: EngineProcess, media: MediaProcess): Promise<number> {
  await wait(warmUpMs)
  const cpu = () => treeCpu(engine.pid) + treeCpu(media.pid)
  const before = { frames: await countFrames(engine), cpu: cpu() }
  await wait(roundMs)
  const seconds = cpu() - before.cpu
  return (seconds * 1000) / ((await countFrames(engine)) - before.frames)
}

/**
 * Frames that all channels have analysed so far. Messages would not do: frames without
 * subscribers are not numbered.
 */
async function countFrames({ url }: EngineProcess): Promise<number> {
  const families = parseExposition(await (await fetch(`${url}/metrics`)).text())
  const { samples } = families.get('eyrie_engine_frames_analysed_total')!
  return [...samples.values()].reduce((sum, count) => sum + count, 0)
}
