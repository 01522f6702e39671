import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '@eyrie/client'
import { EyrieError, type PipelineInput, type SourceInput } from '@eyrie/contract'
import type { Environment } from '@eyrie/kit'
import type { ServiceLog } from '../process/service-log.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { getSceneFile, renderScene } from './demo-scene.ts'
import { provideModel, sceneDetector } from './quickstart-model.ts'
import { createDefaultPipeline, createScenePipeline } from './quickstart-pipeline.ts'
import { type QuickstartState, readState, writeState } from './quickstart-state.ts'
import { parseSourceAddress } from './source-address.ts'

/** `SOURCE=` and `MODEL=` of `make run`. */
export interface QuickstartRequest {
  source?: string
  model?: string
}

export interface Quickstart {
  /** The environment of the caller, with the folder of the requested file added to the folders that media may read. */
  environment: Environment
  /** Creates the requested source and pipeline once the services are healthy, and logs the address of the console. */
  run(supervisor: Supervisor, signal: AbortSignal): Promise<void>
}

/** Validates a request before any service is started. Throws an `Error` with the reason if it is invalid. */
export async function prepareQuickstart(
  request: QuickstartRequest,
  environment: Environment,
  log: ServiceLog,
): Promise<Quickstart> {
  const { data } = environment
  const previous = readState(data)
  const requested = request.source === undefined ? undefined : parseSourceAddress(request.source)
  const isScene = requested === undefined && (previous?.scene ?? true)
  const model = await provideModel(request.model, isScene, data, (message, fields) =>
    log.info('quickstart', message, fields),
  )
  const folder = requested ? requested.folder : previous?.folder
  const mediaRoots = folder ? [...environment.mediaRoots, folder] : environment.mediaRoots

  return {
    environment: { ...environment, mediaRoots: [...new Set(mediaRoots)] },
    async run(supervisor, signal) {
      const rendering = isScene ? renderScene(data, supervisor.serviceEnvironment, log, signal) : undefined
      await Promise.all([supervisor.waitUntilHealthy(signal), rendering?.playable])
      const engine = createClient({ url: supervisor.urls.engine, token: supervisor.engineToken, signal })
      const isExplicit = request.source !== undefined || request.model !== undefined
      if (isExplicit || (!previous && (await engine.pipeline.list()).length === 0)) {
        const input = requested?.source ?? (isScene ? getSceneSource(data) : undefined)
        const createElements = isScene ? createScenePipeline : createDefaultPipeline
        const ids = await putPipeline(engine, previous, input, source => createElements(model, source))
        writeState(data, { ...ids, scene: isScene, folder })
      }
      if (!isScene && model === sceneDetector) log.warn('quickstart', unsuitableModel, { model })
      log.info('eyrie', `ready: open ${supervisor.urls.management}`)
      await rendering?.finished
    },
  }
}

const unsuitableModel = 'the model is trained on rendered streets only: use MODEL=yolox-nano or an ONNX file'

const getSceneSource = (data: string): Pick<SourceInput, 'type' | 'address' | 'decoder'> => ({
  type: 'inf',
  address: pathToFileURL(getSceneFile(data)).href,
  decoder: 'gst_h264',
})

/** Creates the source and its pipeline, or updates those of the previous start. Without `input` the source is not changed. */
async function putPipeline(
  engine: Client,
  previous: QuickstartState | undefined,
  input: Pick<SourceInput, 'type' | 'address' | 'decoder'> | undefined,
  createElements: (source: number) => PipelineInput['elements'],
): Promise<{ source: number; pipeline: number }> {
  const source = input ? await put(engine.source, previous?.source, input) : Number(previous?.source)
  const body = { elements: createElements(source), usecase: 'line-crossing', sources: [source] }
  return { source, pipeline: await put(engine.pipeline, previous?.pipeline, body) }
}

/** An explicitly requested pipeline starts even if the machine drops frames. Its status reports that. */
const ignoreCapacity = { override: 'capacity' } as const

/** Updates a resource, or creates it if it does not exist any more. Returns its id. */
async function put<Body>(
  resource: {
    update(id: number, body: Body, options: typeof ignoreCapacity): Promise<{ id: number }>
    create(body: Body, options: typeof ignoreCapacity): Promise<{ id: number }>
  },
  id: number | undefined,
  body: Body,
): Promise<number> {
  if (id !== undefined) {
    try {
      return (await resource.update(id, body, ignoreCapacity)).id
    } catch (error) {
      if (!(error instanceof EyrieError) || error.code !== 'id') throw error
    }
  }
  return (await resource.create(body, ignoreCapacity)).id
}
