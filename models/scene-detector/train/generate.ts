/**
 * Renders frames with ground-truth boxes for training and evaluation, as shards for `dataset.py`:
 *
 *   node generate.ts OUT --from 20001 --seeds 8 --frames 24 [--size 960x540] [--variation 0..1|mixed]
 *
 * Each seed is one shard. Frames pass through H.264 and GStreamer's scaler like those of a camera.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createBackdrop, Scene } from '../../../scene/picture/scene.ts'
import { toTruthFrame } from '../../../scene/truth/derive-truth.ts'
import type { TruthFrame } from '../../../scene/truth/scene-truth.ts'

const RENDERED = { width: 1280, height: 720, fps: 10 }
const STEPS_BETWEEN_FRAMES = 17

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: '20001' },
    seeds: { type: 'string', default: '8' },
    frames: { type: 'string', default: '24' },
    size: { type: 'string', default: '960x540' },
    variation: { type: 'string', default: 'mixed' },
  },
})
const out = positionals[0]
if (!out) throw new Error('the output folder is missing: node generate.ts OUT')
const [width, height] = values.size.split('x').map(Number) as [number, number]

await mkdir(out, { recursive: true })
const first = Number(values.from)
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const name = join(out, `seed-${seed}`)
  const frames = await renderShard(seed, `${name}.unfinished`)
  await rename(`${name}.unfinished`, `${name}.rgb`)
  await writeFile(`${name}.json`, JSON.stringify({ width, height, frames }))
  console.log(`seed ${seed}: ${frames.length} frames`)
}

/** In mixed mode, half of the seeds use the demo's camera, a quarter one close to it, a quarter a random one. */
function selectVariation(seed: number): number {
  if (values.variation !== 'mixed') return Number(values.variation)
  return [0, 0, 0.05 + (seed % 23) / 92, 1][seed % 4]!
}

async function renderShard(seed: number, path: string): Promise<(TruthFrame & { seed: number })[]> {
  const scene = new Scene({ seed, variation: selectVariation(seed), ...RENDERED })
  const backdrop = createBackdrop(RENDERED.width, RENDERED.height)
  scene.renderBackdrop(backdrop)
  const pipeline = startEncoding(path)
  const rgb = new Uint8ClampedArray(RENDERED.width * RENDERED.height * 3)
  const frames: (TruthFrame & { seed: number })[] = []
  for (let n = 0; n < Number(values.frames); n++) {
    for (let i = 0; i < STEPS_BETWEEN_FRAMES; i++) scene.simulation.step()
    const objects = scene.paint(backdrop, rgb)
    frames.push({ seed, ...toTruthFrame({ n, objects }, RENDERED.width, RENDERED.height) })
    await new Promise<void>((resolve, reject) =>
      pipeline.stdin.write(rgb, error => (error ? reject(error) : resolve())),
    )
  }
  pipeline.stdin.end()
  const [code] = await once(pipeline, 'close')
  if (code !== 0) throw new Error(`gst-launch-1.0 failed while writing ${path} (${code})`)
  return frames
}

function startEncoding(path: string) {
  // biome-ignore format: one pipeline element per line
  const pipeline = [
    'fdsrc', 'fd=0', '!',
    'rawvideoparse', `width=${RENDERED.width}`, `height=${RENDERED.height}`, 'format=rgb', 'framerate=25/1', '!',
    'videoconvert', '!', 'openh264enc', 'bitrate=6000000', 'qp-min=18', 'qp-max=30', 'gop-size=25', '!',
    'h264parse', '!', 'avdec_h264', '!',
    'videoscale', 'method=bilinear', '!', `video/x-raw,width=${width},height=${height}`, '!',
    'videoconvert', '!', 'video/x-raw,format=RGB', '!',
    'filesink', `location=${path}`,
  ]
  return spawn('gst-launch-1.0', ['-q', ...pipeline], { stdio: ['pipe', 'inherit', 'inherit'] })
}
