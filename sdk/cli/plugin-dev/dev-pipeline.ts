import type { Client } from '@eyrie/client'
import type { Channel, PipelineInput, SourceInput } from '@eyrie/contract'
import type { ManifestElement } from '@eyrie/contract/plugin'
import { UsageError } from '../command/command.ts'

/** The channel on which `eyrie plugin dev` runs an element. */
export interface DevelopmentPipeline {
  channel: Channel
  /** Deletes the source and the pipeline, if they were created for the command. */
  remove(): Promise<void>
}

/** The element to run, and the source on which to run it. */
export interface PipelineRequest {
  element: ManifestElement
  /** A source to create, the id of an existing one, or undefined to choose one. */
  source: SourceInput | number | undefined
  args: Record<string, unknown> | undefined
  config: Record<string, unknown> | undefined
}

/**
 * Returns a channel on which the element runs: one that runs it already, or one of a new pipeline.
 * Elements that read objects run behind a detector and a tracker; others, which read pictures, run
 * alone. Throws `UsageError` if there is no source to choose.
 */
export async function preparePipeline(
  engine: Client,
  request: PipelineRequest,
): Promise<DevelopmentPipeline> {
  const existing =
    request.source === undefined ? await findChannel(engine, request.element.name) : undefined
  if (existing) return { channel: existing, remove: async () => {} }

  const { source, isNew } = await prepareSource(engine, request.source)
  let pipelineId: number | undefined
  async function remove(): Promise<void> {
    if (pipelineId !== undefined) await engine.pipeline.remove(pipelineId, { force: true })
    if (isNew) await engine.source.remove(source)
  }

  try {
    const elements = await createElements(engine, request)
    const { id } = await engine.pipeline.create({
      elements,
      sources: [source],
      sinks: [],
      priority: 0,
    })
    pipelineId = id
    const { channels = [] } = await engine.getExports()
    // The new pipeline has one source, and therefore one channel.
    return { channel: channels.find(({ pipeline }) => pipeline === id)!, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Returns the first channel that runs an element. */
async function findChannel(engine: Client, element: string): Promise<Channel | undefined> {
  const pipelines = await engine.pipeline.list()
  const matches = pipelines.filter(({ elements }) => elements.some(({ name }) => name === element))
  const { channels = [] } = await engine.getExports()
  return channels.find(({ pipeline }) => matches.some(({ id }) => id === pipeline))
}

/**
 * Returns the id of the requested source, which is created if it is new, or of the only
 * source of the engine.
 */
async function prepareSource(
  engine: Client,
  requested: SourceInput | number | undefined,
): Promise<{ source: number; isNew: boolean }> {
  if (typeof requested === 'number') return { source: requested, isNew: false }
  if (requested) return { source: (await engine.source.create(requested)).id, isNew: true }
  const sources = await engine.source.list()
  if (sources.length === 1) return { source: sources[0]!.id, isNew: false }
  if (sources.length === 0) {
    throw new UsageError('--source, --file or --scene is missing: the engine has no source yet')
  }
  const ids = sources.map(({ id }) => id).join(', ')
  throw new UsageError(
    `--source is missing: one of ${ids}, or an address such as rtsp://camera/door`,
  )
}

/** Returns the elements of a pipeline that runs the element, as `preparePipeline` describes it. */
async function createElements(
  engine: Client,
  { element, args, config }: PipelineRequest,
): Promise<PipelineInput['elements']> {
  const { name, needs } = element
  const developed = { name, args, config }
  if (needs.includes('pixels')) return [developed]

  const { models } = await engine.getModels()
  const [model] = models
  // Without a model, no detector can run.
  if (!model) return [developed]
  const detector = { name: 'infer', args: model.args.infer ?? { model: model.name } }
  const tracker = { name: 'object-tracking' }
  return [detector, tracker, developed]
}
