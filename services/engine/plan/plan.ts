import type {
  AddressObject,
  Configuration,
  Decoder,
  Pacing,
  PipelineElement,
  Recording,
  SourceType,
} from '@eyrie/contract'

/**
 * What the engine should run, derived from the configuration: video sources, pipelines that analyse
 * them, sinks that receive the results, and channels.
 */
export interface Plan {
  sources: SourcePlan[]
  pipelines: PipelinePlan[]
  sinks: Configuration['sinks']
  channels: ChannelPlan[]
}

/** A configured source. Its address includes passwords. */
export interface SourcePlan {
  id: number
  type: SourceType
  address: AddressObject
  decoder: Decoder
  /** Maximum frame rate in frames per second. */
  rate: number | undefined
  recording?: Recording | undefined
  pacing: Pacing
  /** Whether the file was played to its end before the engine started. It is not played again. */
  ended: boolean
}

/** A configured pipeline: the elements (steps) through which each frame passes. */
export interface PipelinePlan {
  id: number
  elements: PipelineElement[]
  /** 0 to 9. Pipelines of higher priority are served first. */
  priority: number
  /** Ids of the sinks that receive the results. */
  sinks: number[]
}

/**
 * A channel: a pipeline that analyses a source. The same pair of source and pipeline
 * always has the same id.
 */
export interface ChannelPlan {
  id: number
  /** Id of the source. */
  source: number
  /** Id of the pipeline. */
  pipeline: number
}
