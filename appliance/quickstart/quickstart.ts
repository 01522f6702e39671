import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '@eyrie/client'
import { EyrieError, type PipelineInput, type SourceInput } from '@eyrie/contract'
import type { Environment } from '@eyrie/kit'
import type { Console } from '../supervisor/console.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { readAddress } from './address.ts'
import { type Memory, recall, remember } from './memory.ts'
import { provideModel, sceneDetector } from './model.ts'
import { ownPipeline, scenePipeline } from './pipeline.ts'
import { renderScene, sceneFile } from './scene.ts'

/** What the caller asks for: `SOURCE=` and `MODEL=` of `make run`. */
export interface Wish {
  source?: string
  model?: string
}

export interface Quickstart {
  /** The caller's environment with the folder of the wished file among those that media may read. */
  environment: Environment
  /** Sets up what is wished once the services are healthy, and says where to look. */
  run(supervisor: Supervisor, signal: AbortSignal): Promise<void>
}

/** Checks a wish before anything is started. Throws an Error that says what is wrong with it. */
export async function prepareQuickstart(
  wish: Wish,
  environment: Environment,
  log: Console,
): Promise<Quickstart> {
  const { data } = environment
  const earlier = recall(data)
  const wanted = wish.source === undefined ? undefined : readAddress(wish.source)
  const onScene = wanted === undefined && (earlier?.scene ?? true)
  const model = await provideModel(wish.model, onScene, data, message => log.info('quickstart', message))
  const folder = wanted ? wanted.folder : earlier?.folder
  const roots = folder ? [...environment.mediaRoots, folder] : environment.mediaRoots

  return {
    environment: { ...environment, mediaRoots: [...new Set(roots)] },
    async run(supervisor, signal) {
      const rendering = onScene ? renderScene(data, supervisor.serviceEnvironment, log, signal) : undefined
      await Promise.all([supervisor.healthy(signal), rendering?.playable])
      const engine = createClient({ url: supervisor.urls.engine, token: supervisor.engineToken, signal })
      const asked = wish.source !== undefined || wish.model !== undefined
      if (asked || (!earlier && (await engine.pipeline.list()).length === 0)) {
        const input = wanted?.source ?? (onScene ? sceneSource(data) : undefined)
        const elements = onScene ? scenePipeline : ownPipeline
        const ids = await analyse(engine, earlier, input, source => elements(model, source))
        remember(data, { ...ids, scene: onScene, folder })
      }
      if (!onScene && model === sceneDetector) log.warn('quickstart', unsuited)
      log.info('eyrie', `ready: open ${supervisor.urls.management}`)
      await rendering?.finished
    },
  }
}

const unsuited = `${sceneDetector} knows rendered streets and little else: give MODEL=yolox-nano or an ONNX file`

const sceneSource = (data: string): Pick<SourceInput, 'type' | 'address' | 'decoder'> => ({
  type: 'inf',
  address: pathToFileURL(sceneFile(data)).href,
  decoder: 'gst_h264',
})

/** Creates the source and its pipeline, or changes those of an earlier start. `input` undefined keeps the source. */
async function analyse(
  engine: Client,
  earlier: Memory | undefined,
  input: Pick<SourceInput, 'type' | 'address' | 'decoder'> | undefined,
  elementsFor: (source: number) => PipelineInput['elements'],
): Promise<{ source: number; pipeline: number }> {
  const source = input ? await put(engine.source, earlier?.source, input) : Number(earlier?.source)
  const body = { elements: elementsFor(source), usecase: 'line-crossing', sources: [source] }
  return { source, pipeline: await put(engine.pipeline, earlier?.pipeline, body) }
}

/** What somebody has asked for by name is started even where frames will be dropped; its state says so. */
const asAsked = { override: 'capacity' } as const

/** Replaces the resource if it is still there; creates it otherwise. Resolves with its id. */
async function put<Body>(
  resource: {
    update(id: number, body: Body, options: typeof asAsked): Promise<{ id: number }>
    create(body: Body, options: typeof asAsked): Promise<{ id: number }>
  },
  id: number | undefined,
  body: Body,
): Promise<number> {
  if (id !== undefined) {
    try {
      return (await resource.update(id, body, asAsked)).id
    } catch (error) {
      if (!(error instanceof EyrieError) || error.code !== 'id') throw error
    }
  }
  return (await resource.create(body, asAsked)).id
}
