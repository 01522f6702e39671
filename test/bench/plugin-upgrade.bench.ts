import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'
import { packPlugin } from '../../sdk/cli/plugin/plugin-archive.ts'
import { type TestPlugin, writePlugin } from '../fixtures/engine/test-plugin.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import type { Bench } from './bench.ts'
import { countPublishedFrames, type FrameCounter } from './published-frames.ts'

const sources = 4
const rate = 15
/** On each source, one channel runs the plugin that is switched, and one runs another plugin. */
const channels = 2 * sources
const rounds = 6
const roundMs = 5000
const warmUpMs = 20_000
const maxSwitchMs = 120_000
/** Elements of the plugin that is switched: its versions read pictures of different sizes. */
const versions = { '1.0.0': { width: 160, height: 120 }, '2.0.0': { width: 96, height: 72 } }

/**
 * All channels analyse live video in sandboxed elements. Rounds in which the plugin is
 * switched alternate with rounds of the same length in which it is not, so that frames that
 * the load costs are known.
 */
export const bench: Bench = {
  name: `frames that ${channels} live channels lose because a plugin is switched ${rounds} times`,
  limit: { max: 0 },
  unit: ' frames',
  isCount: true,

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-upgrade-'))
    const videos = Array.from({ length: sources }, (_, index) => join(folder, `video-${index}.mp4`))
    for (const path of videos) {
      makeVideo(path, { frames: 20 * rate, fps: rate, keyframeInterval: 2 * rate })
    }
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      media,
      variables: { EYRIE_MEDIA_ROOTS: folder },
    })
    try {
      const { api } = engine
      for (const [version, size] of Object.entries(versions)) {
        await upload(api, folder, { name: 'switched', version, ...createElement(size) })
      }
      await upload(api, folder, { name: 'other', ...createElement(versions['1.0.0']) })
      const frames = await countPublishedFrames(api)
      const switched = await deploy(api, videos)
      await wait(warmUpMs)

      const lost = { without: [] as number[], with: [] as number[] }
      let published = 0
      for (let round = 0; round < rounds; round += 1) {
        lost.without.push((await measure(frames)).lost)
        const version = round % 2 === 0 ? '2.0.0' : '1.0.0'
        const measured = await measure(frames, async () => {
          await api.plugin.use('switched', { version, revert: false })
          await frames.untilCounted(switched, versions[version].width, maxSwitchMs)
        })
        lost.with.push(measured.lost)
        published += measured.published / measured.seconds
      }
      return {
        samples: [sum(lost.with) - sum(lost.without)],
        loads: [
          {
            name: 'frames/s published during switches',
            min: 0.95 * channels * rate,
            actual: published / rounds,
          },
          { name: 'channels', min: channels, actual: frames.channels().length },
        ],
        detail: `rounds with a switch ${lost.with.join(' ')}, without ${lost.without.join(' ')} frames lost; ${(published / rounds).toFixed(0)} frames/s published`,
      }
    } finally {
      await engine.stop()
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** An element that reads pictures of this size, and counts the frames by their width. */
const createElement = (size: { width: number; height: number }): TestPlugin => ({
  element: { needs: ['pixels'], runs: 'worker' },
  open: `
    let total = 0
    return {
      view: ${JSON.stringify({ format: 'GRAY8', ...size })},
      process: (_: any, { width }: any) => ({ counters: { widths: { [width]: (total += 1) } } }),
    }`,
})

async function upload(api: Client, folder: string, plugin: TestPlugin): Promise<void> {
  writePlugin(join(folder, 'uploads'), plugin)
  const { archive } = await packPlugin(join(folder, 'uploads', plugin.name!))
  await api.plugin.upload(archive)
}

/** Deploys both plugins on each source. Returns the channels of the plugin that is switched. */
async function deploy(api: Client, videos: readonly string[]): Promise<number[]> {
  // Played in real time, again and again.
  const inputs = videos.map(address => ({ type: 'inf' as const, address }))
  const { pipelines } = await api.deploy(
    ['switched', 'other'].map(name => ({ sources: inputs, sinks: [], elements: [{ name }] })),
    { override: 'capacity' },
  )
  const exported = await api.getExports({ filter: ['channels'] })
  return (exported.channels ?? [])
    .filter(({ pipeline }) => pipeline === pipelines[0]?.id)
    .map(({ id }) => id)
}

/**
 * Counts the frames of a round, which lasts until `work` is done, but not shorter than the others.
 */
async function measure(frames: FrameCounter, work: () => Promise<void> = async () => {}) {
  const startedAt = performance.now()
  const before = frames.totals()
  await Promise.all([work(), wait(roundMs)])
  const after = frames.totals()
  return {
    lost: after.lost - before.lost,
    published: after.published - before.published,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
