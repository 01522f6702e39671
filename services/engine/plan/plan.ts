import type {
  AddressObject,
  Configuration,
  Decoder,
  Pacing,
  PipelineElement,
  Recording,
  SourceType,
} from '@eyrie/contract'

/** A configured channel: a pipeline on a source. The id of a pair of source and pipeline never changes. */
export interface ChannelPlan {
  id: number
  source: number
  pipeline: number
}

/** A configured source, with secrets and the long form of its address. */
export interface SourcePlan {
  id: number
  type: SourceType
  address: AddressObject
  decoder: Decoder
  rate: number | undefined
  recording?: Recording | undefined
  pacing: Pacing
  /** The file was already played to its end before the engine started. It is not played again. */
  ended: boolean
}

/** The complete desired state of the runtime, derived from the configuration. */
export interface Plan {
  sources: SourcePlan[]
  pipelines: { id: number; elements: PipelineElement[]; priority: number; sinks: number[] }[]
  sinks: Configuration['sinks']
  channels: ChannelPlan[]
}
