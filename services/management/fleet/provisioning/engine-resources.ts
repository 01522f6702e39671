import { type Client, getEtag } from '@eyrie/client'
import { type Decoder, type Pipeline, redactAddress } from '@eyrie/contract'
import type { Resource } from './apply-steps.ts'
import type { PipelineFields } from './desired-state.ts'
import type { SourceFields } from './source-address.ts'

export function sourcesOn(engine: Client): Resource<SourceFields> {
  return {
    kind: 'source',
    create: fields => engine.source.create({ ...fields, decoder: decoderOf(fields) }),
    get: async sid => {
      const found = await engine.source.get(sid)
      return { found, etag: getEtag(found) }
    },
    modify: (sid, { address, ...fields }, found, ifMatch) => {
      const rate = 'rate' in fields ? { rate: fields.rate ?? null } : {}
      // A merge patch would keep what the address there has and the new one has not.
      const whole =
        typeof address === 'object' && typeof found.address === 'object'
          ? { ...Object.fromEntries(Object.keys(found.address).map(key => [key, null])), ...address }
          : address
      return engine.source.modify(sid, { ...fields, ...rate, ...(whole && { address: whole }) }, { ifMatch })
    },
    remove: (sid, ifMatch) => engine.source.remove(sid, { ifMatch }),
  }
}

export function pipelinesOn(engine: Client): Resource<PipelineFields> {
  return {
    kind: 'pipeline',
    create: fields => engine.pipeline.create(fields),
    get: async sid => {
      const found = await engine.pipeline.get(sid)
      return { found: inOrder(found), etag: getEtag(found) }
    },
    modify: (sid, fields, _, ifMatch) => engine.pipeline.modify(sid, fields, { ifMatch }),
    // It is connected to what somebody has connected it to, which stays.
    remove: (sid, ifMatch) => engine.pipeline.remove(sid, { ifMatch, force: true }),
  }
}

export const shownSource = (fields: SourceFields): SourceFields => ({
  ...fields,
  address: redactAddress(fields.address),
})

/** In which order sources are connected makes no difference. */
export const inOrder = (pipeline: Pipeline) => ({
  ...pipeline,
  usecase: pipeline.usecase ?? '',
  sources: pipeline.sources.toSorted((a, b) => a - b),
})

/** What is no RTSP may be anything: a decoder is chosen by what comes. */
const decoderOf = ({ address }: SourceFields): Decoder =>
  /^rtsps?:/i.test(typeof address === 'string' ? address : address.url) ? 'gst_h264' : 'gst'
