import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { DEMO } from '../../scene/demo.ts'
import type { Console } from '../supervisor/console.ts'
import { launch } from '../supervisor/process.ts'

const main = resolve(import.meta.dirname, '../../scene/main.ts')

/** Where the rendered scene lies; it grows there while it is being made. */
export const sceneFile = (data: string) => join(data, 'media', `scene-${DEMO.seed}.mp4`)

/** Renders the scene into the media folder; returns at once if it's already there. Ends with `signal`. */
export async function renderScene(
  data: string,
  environment: NodeJS.ProcessEnv,
  log: Console,
  signal: AbortSignal,
): Promise<void> {
  const out = join(data, 'media')
  const args = [main, '--seed', String(DEMO.seed), '--seconds', String(DEMO.seconds), '--out', out]
  const child = launch({ name: 'scene', args, environment }, log)
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  const [code] = await once(child, 'exit')
  signal.removeEventListener('abort', stop)
  if (code !== 0 && !signal.aborted)
    throw new Error(`the scene could not be rendered (code ${code}): see the lines above`)
}
