import { type Client, getEtag } from '@eyrie/client'
import { type Decoder, type Pipeline, redactAddress } from '@eyrie/contract'
import type { EngineResource } from './apply-steps.ts'
import type { PipelineFields } from './desired-state.ts'
import type { SourceFields } from './source-fields.ts'

export function createSourceResource(engine: Client): EngineResource<SourceFields> {
  return {
    kind: 'source',
    create: fields => engine.source.create({ ...fields, decoder: chooseDecoder(fields) }),
    async get(sid) {
      const object = await engine.source.get(sid)
      return { object, etag: getEtag(object) }
    },
    update(sid, { address, ...fields }, current, ifMatch) {
      // Null deletes a field in a merge patch.
      const rate = 'rate' in fields ? { rate: fields.rate ?? null } : {}
      const replaced = address && replaceAddress(current.address, address)
      const patch = { ...fields, ...rate, ...(replaced && { address: replaced }) }
      return engine.source.modify(sid, patch, { ifMatch })
    },
    remove: (sid, ifMatch) => engine.source.remove(sid, { ifMatch }),
  }
}

/** A merge patch retains members that the new address lacks, so they are set to null. */
function replaceAddress(current: SourceFields['address'] | undefined, address: SourceFields['address']) {
  if (typeof address !== 'object' || typeof current !== 'object') return address
  const cleared = Object.fromEntries(Object.keys(current).map(key => [key, null]))
  return { ...cleared, ...address }
}

export function createPipelineResource(engine: Client): EngineResource<PipelineFields> {
  return {
    kind: 'pipeline',
    create: fields => engine.pipeline.create(fields),
    async get(sid) {
      const pipeline = await engine.pipeline.get(sid)
      return { object: normalizePipeline(pipeline), etag: getEtag(pipeline) }
    },
    update: (sid, fields, _current, ifMatch) => engine.pipeline.modify(sid, fields, { ifMatch }),
    // `force`: other clients may have connected sources and sinks to it, which continue to exist.
    remove: (sid, ifMatch) => engine.pipeline.remove(sid, { ifMatch, force: true }),
  }
}

/** Hides the password as the engine does. */
export const redactSource = (fields: SourceFields): SourceFields => ({
  ...fields,
  address: redactAddress(fields.address),
})

/** Sorts the sources: their order has no meaning. */
export const normalizePipeline = (pipeline: Pipeline) => ({
  ...pipeline,
  usecase: pipeline.usecase ?? '',
  sources: pipeline.sources.toSorted((a, b) => a - b),
})

/** Addresses other than RTSP may have any format: `gst` detects it from the data. */
function chooseDecoder({ address }: SourceFields): Decoder {
  const url = typeof address === 'string' ? address : address.url
  return /^rtsps?:/i.test(url) ? 'gst_h264' : 'gst'
}
