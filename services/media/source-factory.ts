import type { Decoders } from './decode/decoders.ts'
import { createMessageSource, type MessageSourceOptions } from './ingest/messages/message-source.ts'
import { createPipelineSource, type PipelineSourceOptions } from './ingest/pipeline-source.ts'
import { createMainAndSubSource } from './ingest/streams/main-and-sub-source.ts'
import type { MessageListener, Source, SourceIdentity } from './sources/source.ts'

/** What the sources of this service have in common. */
export type SourceFactoryOptions = Omit<
  MessageSourceOptions & PipelineSourceOptions,
  keyof SourceSettings | 'decoders' | 'position' | 'isMuted' | 'onTiming'
> & {
  /** Returns the decoders, which are found when the service starts. */
  getDecoders(): Decoders
}

/** What distinguishes a source from the others. */
export interface SourceSettings {
  identity: SourceIdentity
  /** Stream time of the first picture, in 90 kHz ticks. */
  beginPts: number
  listener: MessageListener
}

/** Returns a function that creates sources of all types. */
export function createSourceFactory(options: SourceFactoryOptions) {
  const { getDecoders, ...common } = options

  return (settings: SourceSettings): Source => {
    const { type, address } = settings.identity
    if (type === 'zmq' || type === 'zmqinternal') {
      return createMessageSource({ ...common, ...settings })
    }
    const create = address.sub_url === undefined ? createPipelineSource : createMainAndSubSource
    return create({ ...common, ...settings, decoders: getDecoders() })
  }
}
