import type {
  AddressObject,
  CatalogDevice,
  CatalogElement,
  CatalogModel,
  Configuration,
  Decoder,
  OutputMessage,
  Pacing,
  PipelineElement,
  PipelineStatistics,
  Recording,
  SourceStatus,
  SourceType,
  ViewSpec,
} from '@eyrie/contract'
import type { Inference } from '@eyrie/element/inference'

/** What the engine's parts need of one another; each part declares no more than it uses. */

type Unnumbered<Message> = Message extends { seq: number } ? Omit<Message, 'seq'> : never

/** A message before the output log has given it its number. */
export type Draft = Unnumbered<OutputMessage>

/** Where channels send what they find. Never blocks: what has to wait is queued inside. */
export interface Publisher {
  publish(draft: Draft): void
}

/** A channel as configured: its id stays with the pair of source and pipeline for ever. */
export interface ChannelPlan {
  id: number
  source: number
  pipeline: number
}

/** A source as the runtime needs it: secrets included, address in its long form. */
export interface SourcePlan {
  id: number
  type: SourceType
  address: AddressObject
  decoder: Decoder
  rate: number | undefined
  recording?: Recording | undefined
  pacing: Pacing
  /** The file had ended before the engine was started: it is not played again. */
  ended: boolean
}

/** The whole desired state of the runtime, derived from the configuration. */
export interface Plan {
  sources: SourcePlan[]
  pipelines: { id: number; elements: PipelineElement[]; priority: number; sinks: number[] }[]
  sinks: Configuration['sinks']
  channels: ChannelPlan[]
}

/** `latency`, `latencyP95`: ms from decoded frame to output; with `fps` over the last 10 s. */
export interface ChannelStatistics {
  fps: number
  latency: number
  latencyP95: number
  /** Frames analysed since the channel began. */
  analysed: number
  /** Frames not analysed since the channel began: for want of capacity, or because something had failed. */
  dropped: { lacking: number; failed: number }
}

/** Runs channels: makes what runs equal to a plan and never touches what does not differ. */
export interface Runtime {
  apply(plan: Plan): Promise<void>
  pipelineStatistics(pipeline: number): PipelineStatistics
  channelStatistics(channel: number): ChannelStatistics
  /** Lines, zones and other fixed metadata of a channel's elements, by element name; of those that are open. */
  channelMetadata(channel: number): Record<string, unknown>
  /** Resolves when the channel's elements are open, or the first has failed to. */
  channelSettled(channel: number): Promise<void>
  sourceStatus(source: number): SourceStatus | undefined
  /** Where media serves streams; undefined while it is not connected. */
  streamServer(): { hostname: string; port: number; gstreamer: string; epoch: number } | undefined
  /** Called when a `file` source has played to its end, so that it can be remembered. */
  onSourceEnded(listener: (source: number) => void): void
}

/** A model as it is run: costs differ by all of these. */
export interface InferenceRun {
  /** Of the model's file. */
  sha256: string
  device: string
  /** Of the picture that the model sees, in pixels. */
  size: { width: number; height: number }
}

/** `fps`: frames as they come, before the source's rate. CPU time in ms of a frame of these, and of one of a view. */
export interface SourceCost {
  fps: number
  decodeMs: number
  scaleMs?: number | undefined
}

/** Told what frames have cost, in ms of CPU time. */
export interface CostListener {
  inferred(run: InferenceRun, ms: number): void
  processed(element: string, version: string, ms: number): void
  decoded(source: SourcePlan, cost: SourceCost): void
}

/** What an element of a pipeline will cost, as far as that can be told before it is opened. */
export interface ElementDemand {
  name: string
  version: string
  inference?: { model: string; sha256: string; device: string; view: Pick<ViewSpec, 'width' | 'height'> }
}

/** What frames cost, in ms of CPU time; undefined what was never measured. */
export interface KnownCosts {
  source(plan: SourcePlan): SourceCost | undefined
  element(name: string, version: string): number | undefined
  inference(demand: NonNullable<ElementDemand['inference']>): number | undefined
}

/** Where the frames of a view lie now. A ring that is made again keeps its path and changes its generation. */
export interface RingPlace {
  path: string
  generation: number
}

/** What a channel tells the inference workers about itself. */
export interface InferenceClient {
  channel: number
  /** With `realtime` a waiting frame gives way to a newer one of its channel; with `all` none does. */
  pacing: Pacing
  /** Of the channel's pipeline, 0 to 9; it may change at any time. */
  priority(): number
  /** A frame was dropped in favour of pipelines of higher priority. */
  onYield?(): void
  /** Asked at every frame; undefined while media has not made the view. */
  ringOf(view: ViewSpec): RingPlace | undefined
}

/** The inference workers, as the runtime and the catalog use them. */
export interface InferencePool {
  /** How many frames can be inferred at the same time. */
  readonly workers: number
  forChannel(client: InferenceClient): Inference
  /** Devices that models can run on; `cpu` always. */
  devices(): CatalogDevice[]
  stop(): Promise<void>
}

/** What pipelines can be made of, loaded at run time. */
export interface Catalog {
  elements(): CatalogElement[]
  models(filter: 'devices' | 'none'): CatalogModel[]
  devices(): CatalogDevice[]
  /**
   * Checks args and config against the schemas of the element that would run, its model and device included.
   * Throws EyrieError `syntax` whose reason begins with the JSON pointer `at` plus the place inside the element.
   */
  check(element: PipelineElement, at: string): void
  /** What these elements will ask for; those that nobody knows ask for nothing. */
  demandOf(elements: readonly PipelineElement[]): ElementDemand[]
  /** Whether the keys of this element's config name sources (`"1"`, `"1,2"`). */
  keysAreSources(element: string): boolean
}
