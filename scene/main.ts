// Renders a scene: node scene/main.ts --out DIR [--seed 4] [--seconds 60] [--fps 25] [--size
// 1280x720]

import { constants, getPriority, setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { DEMO } from './demo.ts'
import { type RenderOptions, renderScene } from './render.ts'

const BAR_WIDTH = 30

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(DEMO.seed) },
    seconds: { type: 'string', default: String(DEMO.seconds) },
    fps: { type: 'string', default: String(DEMO.fps) },
    size: { type: 'string', default: `${DEMO.width}x${DEMO.height}` },
    out: { type: 'string' },
  },
})

const [width, height] = values.size.split('x').map(Number) as [number, number]
const options = {
  seed: Number(values.seed),
  seconds: Number(values.seconds),
  fps: Number(values.fps),
  width,
  height,
}
const problem = validateOptions()
if (problem) {
  console.error(`scene: ${problem}`)
  process.exit(2)
}

const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => abort.abort(new Error(`stopped by ${name}`)))
}

// Rendering must not slow down the services that analyse the scene. A lower priority remains,
// because an ordinary user cannot raise it.
setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
try {
  await renderScene({
    ...options,
    out: values.out!,
    ...createProgressReporter(process.stdout),
    signal: abort.signal,
  })
} catch (error) {
  console.error(`scene: ${(error as Error).message}`)
  process.exitCode = 1
}

/** Returns the problem of the command line; null if it is valid. */
function validateOptions(): string | null {
  if (!values.out) return 'the output folder is missing: add --out DIR'
  for (const [name, value] of Object.entries(options)) {
    const min = name === 'seed' ? 0 : 1
    if (!Number.isInteger(value) || value < min) {
      return `${name} must be a whole number, not ${value}`
    }
  }
  if (width % 2 || height % 2) return `width and height must be even, not ${values.size}`
  return null
}

/**
 * Shows a progress bar on a terminal. Otherwise writes one line of JSON per percent and
 * per published video.
 */
function createProgressReporter(
  stream: NodeJS.WriteStream,
): Pick<RenderOptions, 'onProgress' | 'onPublish'> {
  let lastPercent = -1
  return {
    onProgress(share) {
      const percent = Math.floor(share * 100)
      if (percent === lastPercent) return
      lastPercent = percent
      const line = `${JSON.stringify({ progress: percent / 100 })}\n`
      stream.write(stream.isTTY ? formatProgressBar(share) : line)
    },
    onPublish(seconds) {
      if (!stream.isTTY) stream.write(`${JSON.stringify({ published_s: seconds })}\n`)
    },
  }
}

function formatProgressBar(share: number): string {
  const full = Math.round(share * BAR_WIDTH)
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  const lineEnd = share === 1 ? '\n' : ''
  return `\rRendering the scene ${bar} ${percent} %${lineEnd}`
}
