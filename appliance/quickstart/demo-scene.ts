import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { tryParseJson } from '@eyrie/contract/parse'
import { z } from 'zod'
import { DEMO } from '../../scene/demo.ts'
import type { ServiceLog } from '../process/service-log.ts'
import { startProcess } from '../process/supervised-process.ts'

const program = resolve(import.meta.dirname, '../../scene/main.ts')

/** A line that the renderer prints: the completed share, or the number of seconds that can be played. */
const rendererMessage = z.union([z.object({ progress: z.number() }), z.object({ published_s: z.number() })])

/** The video file of the demo scene. It grows while it is rendered. */
export const getSceneFile = (data: string) => join(data, 'media', `scene-${DEMO.seed}.mp4`)

export interface SceneRendering {
  /** Resolves when the first seconds can be played. */
  readonly playable: Promise<void>
  /** Resolves when the whole scene is rendered, or was rendered before. */
  readonly finished: Promise<void>
}

/** Renders the demo scene into the media folder in a background process, until it is complete or the signal fires. */
export function renderScene(
  data: string,
  environment: NodeJS.ProcessEnv,
  log: ServiceLog,
  signal: AbortSignal,
): SceneRendering {
  const playable = Promise.withResolvers<void>()
  let loggedTenths = 0
  const line = (service: string, text: string) => {
    if (signal.aborted) return
    const message = rendererMessage.safeParse(tryParseJson(text))
    if (!message.success) return log.line(service, text)
    if ('published_s' in message.data) return playable.resolve()
    const tenths = Math.floor(message.data.progress * 10)
    if (tenths > loggedTenths) log.info(service, 'rendering demo scene', { percent: tenths * 10 })
    loggedTenths = tenths
  }
  const seed = String(DEMO.seed)
  const seconds = String(DEMO.seconds)
  const args = [program, '--seed', seed, '--seconds', seconds, '--out', join(data, 'media')]
  const child = startProcess({ name: 'scene', args, environment }, { ...log, line })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  const finished = once(child, 'exit').then(([code]) => {
    signal.removeEventListener('abort', stop)
    if (code !== 0 && !signal.aborted)
      throw new Error(`the demo scene could not be rendered (exit code ${code}): see the log above`)
    playable.resolve()
  })
  finished.catch(playable.reject)
  return { playable: playable.promise, finished }
}
