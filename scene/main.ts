/** Renders a scene: node scene/main.ts --seed 7 --seconds 60 --out DIR [--fps 25] [--size 1280x720] */
import { constants, setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { DEMO } from './demo.ts'
import { progressReporter } from './progress.ts'
import { renderScene } from './render.ts'

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
const fault = findFault()
if (fault) {
  console.error(`scene: ${fault}`)
  process.exit(2)
}

const abort = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => abort.abort(new Error(`stopped by ${name}`)))

setPriority(constants.priority.PRIORITY_BELOW_NORMAL) // what watches the scene goes first
const out = values.out!
const report = progressReporter(process.stdout)
try {
  await renderScene({ ...options, out, ...report, signal: abort.signal })
} catch (error) {
  console.error(`scene: ${(error as Error).message}`)
  process.exitCode = 1
}

function findFault(): string | null {
  if (!values.out) return 'say where to put the scene: --out DIR'
  for (const [name, value] of Object.entries(options))
    if (!Number.isInteger(value) || value < (name === 'seed' ? 0 : 1))
      return `${name} must be a whole number, not ${value}`
  return width % 2 || height % 2 ? `width and height must be even, not ${values.size}` : null
}
