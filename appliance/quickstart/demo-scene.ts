import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { tryParseJson } from '@eyrie/contract/parse'
import { z } from 'zod'
import { DEMO } from '../../scene/demo.ts'
import type { ServiceLog } from '../process/service-log.ts'
import { type ProcessContext, startProcess } from '../process/supervised-process.ts'

const RENDERER_PROGRAM = resolve(import.meta.dirname, '../../scene/main.ts')

/**
 * A line of output of the renderer. `progress` is the completed share, from 0 to 1. `published_s`
 * is the length of the video that can already be played, in seconds.
 */
const rendererMessage = z.union([
  z.object({ progress: z.number() }),
  z.object({ published_s: z.number() }),
])

/** Folder of the videos that the media service can play. */
const getMediaFolder = (dataFolder: string) => join(dataFolder, 'media')

/** Returns the path of the video of the demo scene. The file grows while the scene is rendered. */
export const getSceneFile = (dataFolder: string) =>
  join(getMediaFolder(dataFolder), `scene-${DEMO.seed}.mp4`)

/**
 * The rendering of the demo scene in a background process. The promises reject if the
 * scene cannot be rendered.
 */
export interface SceneRendering {
  /** Resolves when the first seconds can be played. */
  readonly playable: Promise<void>
  /** Resolves when the whole scene has been rendered, now or by an earlier run. */
  readonly finished: Promise<void>
}

export interface RenderingOptions {
  dataFolder: string
  /** What the renderer gets from this process, such as environment variables. */
  context: ProcessContext
  log: ServiceLog
  /** Stops the rendering. The promises then resolve, although the video may be incomplete. */
  signal: AbortSignal
}

/**
 * Renders the demo scene, a computer-generated street that Eyrie shows if the user has no camera. A
 * background process writes the video to the media folder.
 */
export function renderScene({
  dataFolder,
  context,
  log,
  signal,
}: RenderingOptions): SceneRendering {
  const playable = Promise.withResolvers<void>()
  const logProgress = createProgressLog(log)

  const receiveLine = (service: string, text: string) => {
    if (signal.aborted) return
    const message = rendererMessage.safeParse(tryParseJson(text))
    if (!message.success) log.line(service, text)
    else if ('published_s' in message.data) playable.resolve()
    else logProgress(service, message.data.progress)
  }

  const seed = String(DEMO.seed)
  const seconds = String(DEMO.seconds)
  const out = getMediaFolder(dataFolder)
  const args = [RENDERER_PROGRAM, '--seed', seed, '--seconds', seconds, '--out', out]
  const child = startProcess({ name: 'scene', args, ...context }, { ...log, line: receiveLine })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })

  const finished = once(child, 'exit').then(([code]) => {
    signal.removeEventListener('abort', stop)
    if (code !== 0 && !signal.aborted) {
      throw new Error(`the demo scene could not be rendered (exit code ${code}): see the log above`)
    }
  })
  // A complete scene of an earlier run can be played, but the renderer does not report it again.
  finished.then(playable.resolve, playable.reject)
  return { playable: playable.promise, finished }
}

/** Returns a function that logs the completed share of the rendering, in steps of 10 percent. */
function createProgressLog(log: ServiceLog) {
  let loggedPercent = 0
  return (service: string, progress: number) => {
    const percent = Math.floor(progress * 10) * 10
    if (percent <= loggedPercent) return
    loggedPercent = percent
    log.info(service, 'rendering demo scene', { percent })
  }
}
