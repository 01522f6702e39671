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
 * Returns a channel on which the element runs. If the request names no source, this is a channel
 * that runs the element already, if there is one. Otherwise, creates a pipeline. Throws
 * `UsageError` if the request names no source, and the engine does not have exactly one.
 */
export async function preparePipeline(
  engine: Client,
  request: PipelineRequest,
): Promise<DevelopmentPipeline> {
  const existing =
    request.source === undefined ? await findChannel(engine, request.element.name) : undefined
  if (existing) return { channel: existing, remove: async () => {} }

  const { source, isNew } = await prepareSource(engine, request.source)
  const removeSource = async () => {
    if (isNew) await engine.source.remove(source)
  }
  try {
    const channel = await createPipeline(engine, request, source)
    const remove = async () => {
      await removePipeline(engine, channel.pipeline)
      await removeSource()
    }
    return { channel, remove }
  } catch (error) {
    await removeSource()
    throw error
  }
}

/** Creates a pipeline that runs the element on a source. Returns its channel. */
async function createPipeline(
  engine: Client,
  request: PipelineRequest,
  source: number,
): Promise<Channel> {
  const elements = await createElements(engine, request)
  // With the lowest priority, the pipeline drops frames before others do.
  const { id } = await engine.pipeline.create({
    elements,
    sources: [source],
    sinks: [],
    priority: 0,
  })
  try {
    const { channels = [] } = await engine.getExports()
    // The new pipeline has one source, and therefore one channel.
    const channel = channels.find(({ pipeline }) => pipeline === id)
    if (!channel) throw new Error(`pipeline ${id} was deleted while it was being prepared`)
    return channel
  } catch (error) {
    await removePipeline(engine, id)
    throw error
  }
}

/** Removes a pipeline that still has a source. */
const removePipeline = (engine: Client, id: number) => engine.pipeline.remove(id, { force: true })

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

/**
 * Returns the elements of a pipeline that runs the developed element: alone if it reads pictures,
 * otherwise behind a detector and a tracker, because it reads their objects.
 */
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
