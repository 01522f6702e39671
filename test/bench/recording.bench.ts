import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { recordingList } from '@eyrie/contract'
import { connectControl, createDesiredSource } from '../fixtures/media/control-client.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import type { Bench } from './bench.ts'
import { processCpu, residentMemory } from './cpu.ts'

const cameras = 32
const seconds = 20
const clipSeconds = 4
const fps = 25

export const bench: Bench = {
  name: `cores used to record ${cameras} cameras of 720p without analysis`,
  limit: { max: 1 },

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-recording-'))
    const clip = join(folder, 'clip.mp4')
    makeVideo(clip, {
      frames: clipSeconds * fps,
      fps,
      width: 1280,
      height: 720,
      keyframeInterval: 50,
      pattern: 'snow',
    })
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    try {
      const control = await connectControl(media.url)
      const recording = { mode: 'continuous', before_s: 0, after_s: 0, sound: true } as const
      const url = pathToFileURL(clip).href
      await control.apply(
        ...Array.from({ length: cameras }, (_, i) =>
          createDesiredSource({ id: i + 1, type: 'inf', url, recording }),
        ),
      )
      await Promise.all(
        Array.from({ length: cameras }, (_, i) =>
          control.waitForStatus(i + 1, ({ state }) => state === 'running'),
        ),
      )
      await delay(5000)
      const before = { cpu: processCpu(media.pid), at: performance.now() }
      await delay(seconds * 1000)
      const elapsed = (performance.now() - before.at) / 1000
      const cores = (processCpu(media.pid) - before.cpu) / elapsed
      const { streams } = recordingList.parse(await (await fetch(`${media.url}/recordings`)).json())
      const bits = (statSync(clip).size * 8) / clipSeconds / 1e6
      const dropped = streams.reduce((sum, stream) => sum + stream.dropped, 0)
      const complete = streams.filter(stream => stream.dropped === 0).length
      const lengths = streams.map(({ ranges }) =>
        ranges.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0),
      )
      control.close()
      return {
        samples: [cores],
        loads: [
          {
            name: 'seconds recorded of every camera',
            min: 0.9 * seconds,
            actual: Math.min(...lengths) / 1000,
          },
          { name: 'recordings without a dropped packet', min: cameras, actual: complete },
        ],
        detail: `${cameras} files of 720p, ${fps} fps, ${bits.toFixed(1)} Mbit/s in real time for ${elapsed.toFixed(0)} s; at least ${(Math.min(...lengths) / 1000).toFixed(0)} s recorded of each; ${dropped} packets dropped; ${(residentMemory(media.pid) / 2 ** 20).toFixed(0)} MiB resident`,
      }
    } finally {
      await media.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
