import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ViewSpec } from '@eyrie/contract'
import { connectControl } from '../fixtures/media/control-client.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { type Bench, median } from './bench.ts'
import { childrenCpu, processCpu } from './cpu.ts'

const rounds = 7
const warmUpFrames = 300
const measuredFrames = 3000

/** A typical detector input: 16:9 scaled to 416×234, three planes. */
const view: ViewSpec = { width: 416, multiple_of: 32, format: 'RGBP', letterbox: true, fill: 114 }
const size = 'video/x-raw,width=416,height=234,pixel-aspect-ratio=1/1'

export const bench: Bench = {
  name: 'CPU time per frame of decoding and scaling into a ring against gst-launch',
  limit: { max: 1.1 },

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-decode-'))
    try {
      const short = join(folder, 'short.mp4')
      const long = join(folder, 'long.mp4')
      makeVideo(short, {
        frames: warmUpFrames,
        width: 1920,
        height: 1080,
        fps: 30,
        keyframeInterval: 30,
      })
      repeat(short, long, (warmUpFrames + measuredFrames) / warmUpFrames)

      const ratios: number[] = []
      const eyrie: number[] = []
      const bare: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        // A long run minus a short one: start-up cancels out on both sides.
        bare.push((await launchCpu(long)) - (await launchCpu(short)))
        eyrie.push(await mediaCpu(folder, long))
        ratios.push((eyrie.at(-1) as number) / (bare.at(-1) as number))
      }
      const perFrame = (seconds: number[]) =>
        `${((median(seconds) / measuredFrames) * 1000).toFixed(2)} ms`
      return {
        samples: ratios,
        loads: [],
        detail: `${measuredFrames} frames of 1080p: media ${perFrame(eyrie)} per frame, gst-launch ${perFrame(bare)}; ratios ${ratios.map(r => r.toFixed(3)).join(' ')}`,
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function repeat(file: string, output: string, times: number): void {
  execFileSync('ffmpeg', [
    '-v',
    'error',
    '-stream_loop',
    String(times - 1),
    '-i',
    file,
    '-c',
    'copy',
    '-y',
    output,
  ])
}

/** CPU seconds of gst-launch with the elements that media uses and a fakesink. */
async function launchCpu(file: string): Promise<number> {
  const before = childrenCpu()
  const launch = `filesrc location=${file} ! qtdemux ! h264parse ! tee ! queue ! avdec_h264 output-corrupt=false ! tee ! queue max-size-buffers=2 ! videoscale add-borders=false ! ${size} ! videoconvert ! video/x-raw,format=RGBP ! fakesink sync=false`
  const child = spawn('gst-launch-1.0', ['-q', ...launch.split(' ')], { stdio: 'inherit' })
  await once(child, 'exit')
  return childrenCpu() - before
}

/**
 * CPU seconds of the media service between the last frame of the short clip and the last
 * one of the long clip.
 */
async function mediaCpu(root: string, file: string): Promise<number> {
  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: root }, { isIsolated: true })
  try {
    const control = await connectControl(media.url)
    const address = { url: pathToFileURL(file).href }
    await control.apply({
      id: 1,
      type: 'file',
      address,
      decoder: 'gst_h264',
      pacing: 'all',
      views: { view },
    })
    control.send({ type: 'grant', source: 1, view: 'view', n: Number.MAX_SAFE_INTEGER })
    const cpuAt = (n: number) =>
      control.message('frame', frame => frame.n >= n).then(() => processCpu(media.pid))
    const start = await cpuAt(warmUpFrames)
    const end = await Promise.race([cpuAt(warmUpFrames + measuredFrames), control.closed])
    if (typeof end !== 'number') throw new Error(`media closed the connection: ${end.reason}`)
    control.close()
    return end - start
  } finally {
    await media.stop()
  }
}
