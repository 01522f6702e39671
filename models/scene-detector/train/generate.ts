/**
 * Renders frames of the demo scene with ground-truth boxes for training and evaluation:
 *
 *   node generate.ts OUT --from 20001 --seeds 8 --frames 24 [--size 960x540]
 *   [--variation 0..1|mixed]
 *
 * Each seed becomes one shard, a pair of files that `dataset.py` reads. Like the frames of a
 * camera, the frames are encoded as H.264, decoded and scaled.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { createBackdrop, Scene } from '../../../scene/picture/scene.ts'
import { toTruthFrame } from '../../../scene/truth/derive-truth.ts'
import type { TruthFrame } from '../../../scene/truth/scene-truth.ts'

const RENDERED = { width: 1280, height: 720, fps: 10 }
/** Simulation steps between two frames of a shard, so that the frames differ. */
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
const firstSeed = Number(values.from)
for (let seed = firstSeed; seed < firstSeed + Number(values.seeds); seed++) {
  const name = join(out, `seed-${seed}`)
  const frames = await renderShard(seed, `${name}.unfinished`)
  await rename(`${name}.unfinished`, `${name}.rgb`)
  await writeFile(`${name}.json`, JSON.stringify({ width, height, frames }))
  console.log(`seed ${seed}: ${frames.length} frames`)
}

/**
 * Returns how much the camera differs from the camera of the demo: 0 is the same camera, 1 a random
 * camera. In mixed mode, half of the seeds use the same camera, a quarter a similar camera, and a
 * quarter a random camera.
 */
function selectVariation(seed: number): number {
  if (values.variation !== 'mixed') return Number(values.variation)
  const similar = 0.05 + (seed % 23) / 92
  const variations = [0, 0, similar, 1]
  return variations[seed % variations.length]!
}

/** Writes the pixels of a shard to `path` and returns the true objects of each frame. */
async function renderShard(seed: number, path: string): Promise<(TruthFrame & { seed: number })[]> {
  const scene = new Scene({ seed, variation: selectVariation(seed), ...RENDERED })
  const backdrop = createBackdrop(RENDERED.width, RENDERED.height)
  scene.renderBackdrop(backdrop)
  const encoder = startEncoder(path)
  const rgb = new Uint8ClampedArray(RENDERED.width * RENDERED.height * 3)
  const frames: (TruthFrame & { seed: number })[] = []
  for (let n = 0; n < Number(values.frames); n++) {
    for (let i = 0; i < STEPS_BETWEEN_FRAMES; i++) scene.simulation.step()
    const objects = scene.paint(backdrop, rgb)
    frames.push({ seed, ...toTruthFrame({ n, objects }, RENDERED.width, RENDERED.height) })
    await write(encoder.stdin, rgb)
  }
  encoder.stdin.end()
  const [code] = await once(encoder, 'close')
  if (code !== 0) throw new Error(`gst-launch-1.0 failed while writing ${path} (${code})`)
  return frames
}

/**
 * Starts a GStreamer pipeline that reads raw frames from its standard input and writes the
 * degraded frames to `path`.
 */
function startEncoder(path: string) {
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

function write(stream: Writable, data: Uint8Array | Uint8ClampedArray): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, error => (error ? reject(error) : resolve()))
  })
}
