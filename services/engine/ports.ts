import type {
  CatalogDevice,
  CatalogElement,
  CatalogModel,
  Configuration,
  Decoder,
  LongAddress,
  OutputMessage,
  Pacing,
  PipelineElement,
  PipelineStatistics,
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
  address: LongAddress
  decoder: Decoder
  rate: number | undefined
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
  /** Frames not analysed since the channel began: for want of capacity, or because something had failed. */
  dropped: { lacking: number; failed: number }
}

/** Runs channels: makes what runs equal to a plan and never touches what does not differ. */
export interface Runtime {
  apply(plan: Plan): Promise<void>
  pipelineStatistics(pipeline: number): PipelineStatistics
  channelStatistics(channel: number): ChannelStatistics
  /** Lines, zones and other fixed metadata of a channel's elements, by element name. */
  channelMetadata(channel: number): Record<string, unknown>
  sourceStatus(source: number): SourceStatus | undefined
  /** Where media serves streams; undefined while it is not connected. */
  streamServer(): { hostname: string; port: number; gstreamer: string; epoch: number } | undefined
  /** Called when a `file` source has played to its end, so that it can be remembered. */
  onSourceEnded(listener: (source: number) => void): void
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
  /** Whether the keys of this element's config name sources (`"1"`, `"1,2"`). */
  keysAreSources(element: string): boolean
}
