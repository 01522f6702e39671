import { type Client, getEtag } from '@eyrie/client'
import { type Pipeline, redactAddress } from '@eyrie/contract'
import type { PipelineSettings, SourceSettings } from '../../db/schema/index.ts'
import type { EngineResource } from './apply-steps.ts'
import type { PipelineFields } from './desired-state.ts'
import type { SourceFields } from './source-fields.ts'

/**
 * Creates the operations on the sources of an engine. A `sid` is the id that the engine has
 * assigned to a source; a `recordId` is its id in the database. `findSettings` returns the settings
 * that clients have made on the engine itself, so that a source that is created again keeps them.
 */
export function createSourceResource(
  engine: Client,
  findSettings: (recordId: string) => SourceSettings | undefined,
): EngineResource<SourceFields> {
  return {
    kind: 'source',
    create: (fields, recordId) => engine.source.create({ ...findSettings(recordId), ...fields }),
    async get(sid) {
      const object = await engine.source.get(sid)
      return { object, etag: getEtag(object) }
    },
    update: (sid, changes, current, ifMatch) =>
      engine.source.modify(sid, createSourcePatch(changes, current.address), { ifMatch }),
    remove: (sid, ifMatch) => engine.source.remove(sid, { ifMatch }),
  }
}

/**
 * Returns a JSON merge patch (RFC 7396) that applies changes to a source. Null in the
 * patch deletes a field.
 */
function createSourcePatch(
  { address, ...changes }: Partial<SourceFields>,
  currentAddress: SourceFields['address'] | undefined,
) {
  // JSON has no undefined, and in a merge patch null means the same.
  const rateIsUnset = 'rate' in changes && changes.rate === undefined
  return {
    ...changes,
    ...(rateIsUnset && { rate: null }),
    ...(address && { address: createAddressPatch(currentAddress, address) }),
  }
}

/**
 * Returns a merge patch that replaces the whole address. Members that only the current address
 * has are set to null.
 */
function createAddressPatch(
  current: SourceFields['address'] | undefined,
  address: SourceFields['address'],
) {
  if (typeof address !== 'object' || typeof current !== 'object') return address
  const clearedMembers = Object.fromEntries(Object.keys(current).map(key => [key, null]))
  return { ...clearedMembers, ...address }
}

/** Creates the operations on the pipelines of an engine. See `createSourceResource`. */
export function createPipelineResource(
  engine: Client,
  findSettings: (recordId: string) => PipelineSettings | undefined,
): EngineResource<PipelineFields> {
  return {
    kind: 'pipeline',
    create: (fields, recordId) => engine.pipeline.create({ ...findSettings(recordId), ...fields }),
    async get(sid) {
      const pipeline = await engine.pipeline.get(sid)
      return { object: normalizePipeline(pipeline), etag: getEtag(pipeline) }
    },
    update: (sid, fields, _current, ifMatch) => engine.pipeline.modify(sid, fields, { ifMatch }),
    // `force` is needed because other clients may have connected sources and sinks to the pipeline.
    // They continue to exist.
    remove: (sid, ifMatch) => engine.pipeline.remove(sid, { ifMatch, force: true }),
  }
}

/**
 * Hides the password as the engine does in its responses, so that a stored source can be compared
 * with one of the engine.
 */
export const redactSource = (fields: SourceFields): SourceFields => ({
  ...fields,
  address: redactAddress(fields.address),
})

/**
 * Gives equal pipelines an equal form: the order of sources has no meaning, and a missing usecase
 * is the empty one.
 */
export const normalizePipeline = (pipeline: Pipeline) => ({
  ...pipeline,
  usecase: pipeline.usecase ?? '',
  sources: pipeline.sources.toSorted((a, b) => a - b),
})
