import type {
  AddressObject,
  Configuration,
  Decoder,
  Pacing,
  PipelineElement,
  Recording,
  SourceType,
} from '@eyrie/contract'

/** A channel as configured: a pipeline on a source. Each pair of source and pipeline keeps its id for ever. */
export interface ChannelPlan {
  id: number
  source: number
  pipeline: number
}

/** A source as configured, with its secrets and its address in the long form. */
export interface SourcePlan {
  id: number
  type: SourceType
  address: AddressObject
  decoder: Decoder
  rate: number | undefined
  recording?: Recording | undefined
  pacing: Pacing
  /** The file had played to its end before the engine started: it is not played again. */
  ended: boolean
}

/** The whole desired state of the runtime, derived from the configuration. */
export interface Plan {
  sources: SourcePlan[]
  pipelines: { id: number; elements: PipelineElement[]; priority: number; sinks: number[] }[]
  sinks: Configuration['sinks']
  channels: ChannelPlan[]
}
