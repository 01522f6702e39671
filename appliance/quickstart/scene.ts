import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { tryParseJson } from '@eyrie/contract/parse'
import { z } from 'zod'
import { DEMO } from '../../scene/demo.ts'
import type { Console } from '../supervisor/console.ts'
import { launch } from '../supervisor/process.ts'

const main = resolve(import.meta.dirname, '../../scene/main.ts')

/** A line of the renderer's: the share that is done, or the seconds that can be played. */
const notice = z.union([z.object({ progress: z.number() }), z.object({ published_s: z.number() })])

/** Where the rendered scene lies; it grows there while it is being made. */
export const sceneFile = (data: string) => join(data, 'media', `scene-${DEMO.seed}.mp4`)

export interface Rendering {
  /** Resolves when the first seconds can be played. */
  readonly playable: Promise<void>
  /** Resolves when all is rendered; at once where it has been before. */
  readonly finished: Promise<void>
}

/** Renders the scene into the media folder beside the services. Ends with `signal`. */
export function renderScene(
  data: string,
  environment: NodeJS.ProcessEnv,
  log: Console,
  signal: AbortSignal,
): Rendering {
  const playable = Promise.withResolvers<void>()
  let told = 0
  const line = (service: string, text: string) => {
    if (signal.aborted) return
    const parsed = notice.safeParse(tryParseJson(text))
    if (!parsed.success) return log.line(service, text)
    if ('published_s' in parsed.data) return playable.resolve()
    const tenths = Math.floor(parsed.data.progress * 10)
    if (tenths > told) log.info(service, `rendering the demo scene: ${tenths * 10} %`)
    told = tenths
  }
  const args = [
    main,
    '--seed',
    String(DEMO.seed),
    '--seconds',
    String(DEMO.seconds),
    '--out',
    join(data, 'media'),
  ]
  const child = launch({ name: 'scene', args, environment }, { ...log, line })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  const finished = once(child, 'exit').then(([code]) => {
    signal.removeEventListener('abort', stop)
    if (code !== 0 && !signal.aborted)
      throw new Error(`the scene could not be rendered (code ${code}): see the lines above`)
    playable.resolve()
  })
  finished.catch(playable.reject)
  return { playable: playable.promise, finished }
}
