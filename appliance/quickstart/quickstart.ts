import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '@eyrie/client'
import { EyrieError, type PipelineInput } from '@eyrie/contract'
import type { Environment } from '@eyrie/kit'
import type { LogFields, ServiceLog } from '../process/service-log.ts'
import { getSceneFile, type SceneRendering } from './demo-scene.ts'
import { chooseLines, drawProposedLines } from './quickstart-lines.ts'
import { provideModel, SCENE_DETECTOR } from './quickstart-model.ts'
import { createDefaultPipeline, createScenePipeline } from './quickstart-pipeline.ts'
import { type QuickstartState, readState, writeState } from './quickstart-state.ts'
import { parseSourceAddress, type QuickstartSource } from './source-address.ts'

const UNSUITABLE_MODEL =
  'the model is trained on rendered streets only: use MODEL=yolox-nano or an ONNX file'

/** `SOURCE=` and `MODEL=` of `make run`. */
export interface QuickstartRequest {
  source?: string
  model?: string
}

/**
 * The quickstart of `make run`: it creates a source and a pipeline, so that a new user sees
 * analysed video without any configuration. The source is the video in `SOURCE=`, by
 * default the demo scene.
 */
export interface Quickstart {
  /**
   * The environment, with the folder of the requested file added to the folders that the
   * media service may read.
   */
  environment: Environment
  /** Creates the requested source and pipeline once the services are healthy. */
  run(services: QuickstartServices, signal: AbortSignal): Promise<void>
}

/** What the quickstart needs from the appliance. */
export interface QuickstartServices {
  /** URL of the engine, and a token that it accepts. */
  engine: { url: string; token: string }
  waitUntilHealthy(signal: AbortSignal): Promise<void>
  renderScene(signal: AbortSignal): SceneRendering
  /** Shows how to open the console, which shows the video. */
  announceConsole(signal: AbortSignal): Promise<void>
}

/**
 * Validates a request, before any service is started. Throws an `Error` with the reason if
 * the request is invalid.
 */
export async function prepareQuickstart(
  request: QuickstartRequest,
  environment: Environment,
  log: ServiceLog,
): Promise<Quickstart> {
  const { data } = environment
  const plan = await createPlan(request, data, log)
  const { previous, isScene, model, folder } = plan
  const mediaRoots = folder ? [...environment.mediaRoots, folder] : environment.mediaRoots

  return {
    environment: { ...environment, mediaRoots: [...new Set(mediaRoots)] },
    async run(services, signal) {
      const rendering = isScene ? services.renderScene(signal) : undefined
      await Promise.all([services.waitUntilHealthy(signal), rendering?.playable])

      const access = { ...services.engine, signal }
      const engine = createClient(access)
      const isExplicit = request.source !== undefined || request.model !== undefined
      if (isExplicit || (await isUnconfigured(engine, previous))) {
        await configure(engine, plan, data)
      }

      if (!isScene && model === SCENE_DETECTOR) log.warn('quickstart', UNSUITABLE_MODEL, { model })
      await services.announceConsole(signal)
      await Promise.all([rendering?.finished, drawProposedLines({ engine: access, data, log })])
    },
  }
}

/** What the quickstart will create. */
interface QuickstartPlan {
  /** What the quickstart has created at an earlier start. */
  previous: QuickstartState | undefined
  /** Whether the video is the demo scene. */
  isScene: boolean
  /** Undefined: the source of the earlier start. */
  source: QuickstartSource | undefined
  /** Folder of the video file. */
  folder: string | undefined
  model: string
}

/**
 * Decides what to create. Without `SOURCE=`, the earlier source is used again; at the first start,
 * it is the demo scene.
 */
async function createPlan(
  request: QuickstartRequest,
  data: string,
  log: ServiceLog,
): Promise<QuickstartPlan> {
  const previous = readState(data)
  const requested = request.source === undefined ? undefined : parseSourceAddress(request.source)
  const isScene = requested === undefined && (previous?.scene ?? true)
  const report = (message: string, fields: LogFields) => log.info('quickstart', message, fields)
  return {
    previous,
    isScene,
    source: isScene ? getSceneSource(data) : requested?.source,
    folder: requested ? requested.folder : previous?.folder,
    model: await provideModel({ name: request.model, isScene }, data, report),
  }
}

/** Creates or updates the source and the pipeline, and stores what has been created. */
async function configure(engine: Client, plan: QuickstartPlan, data: string): Promise<void> {
  const { previous, isScene, source, folder, model } = plan
  const lines = isScene ? undefined : await chooseLines(engine, previous, source)
  const ids = await putPipeline(engine, previous, source, sourceId =>
    lines
      ? createDefaultPipeline(model, sourceId, lines.drawn)
      : createScenePipeline(model, sourceId),
  )
  writeState(data, { ...ids, scene: isScene, folder, replaceable_lines: lines?.replaceable })
}

/** Whether neither an earlier quickstart nor the user has created a pipeline. */
async function isUnconfigured(
  engine: Client,
  previous: QuickstartState | undefined,
): Promise<boolean> {
  if (previous) return false
  const pipelines = await engine.pipeline.list()
  return pipelines.length === 0
}

/** Returns a source that plays the demo scene in an infinite loop (`inf`). */
const getSceneSource = (data: string): QuickstartSource => ({
  type: 'inf',
  address: pathToFileURL(getSceneFile(data)).href,
})

/**
 * Creates the source and its pipeline, or updates the earlier ones. If `source` is undefined, the
 * earlier source remains unchanged. Returns the ids.
 */
async function putPipeline(
  engine: Client,
  previous: QuickstartState | undefined,
  source: QuickstartSource | undefined,
  createElements: (sourceId: number) => PipelineInput['elements'],
): Promise<{ source: number; pipeline: number }> {
  const sourceId = source
    ? await createOrUpdate(engine.source, previous?.source, source)
    : Number(previous?.source)
  const pipeline = {
    elements: createElements(sourceId),
    usecase: 'line-crossing',
    sources: [sourceId],
  }
  const pipelineId = await createOrUpdate(engine.pipeline, previous?.pipeline, pipeline)
  return { source: sourceId, pipeline: pipelineId }
}

/**
 * Makes the engine accept a pipeline for which the machine is too slow. Its status reports dropped
 * frames.
 */
const IGNORE_CAPACITY = { override: 'capacity' } as const

/** Updates a resource, or creates it if it does not exist. Returns its id. */
async function createOrUpdate<Body>(
  resource: {
    update(id: number, body: Body, options: typeof IGNORE_CAPACITY): Promise<{ id: number }>
    create(body: Body, options: typeof IGNORE_CAPACITY): Promise<{ id: number }>
  },
  id: number | undefined,
  body: Body,
): Promise<number> {
  if (id !== undefined) {
    try {
      const updated = await resource.update(id, body, IGNORE_CAPACITY)
      return updated.id
    } catch (error) {
      const isDeleted = error instanceof EyrieError && error.code === 'id'
      if (!isDeleted) throw error
    }
  }
  const created = await resource.create(body, IGNORE_CAPACITY)
  return created.id
}
