import { type ConfigurationV2, EyrieError, pipelineInput, sourceInput } from '@eyrie/contract'
import type { routesV2 } from '@eyrie/contract/routes-v2'
import type { Configuration } from '../../configuration/configuration.ts'
import type { WithEtag } from '../../configuration/etag.ts'
import type { ExpandElements } from '../operations/short-form.ts'
import type { Input } from '../routing/operation.ts'
import { toV2Pipeline, toV2Source } from './v2-resources.ts'

/** Converts the configuration of the engine to the form that v1 and v2 of the API return. */
export function toV2Configuration(
  configuration: ReturnType<Configuration['get']>,
): WithEtag<ConfigurationV2> {
  const { sources, sinks, pipelines } = configuration.value
  const value = { sources: sources.map(toV2Source), sinks, pipelines: pipelines.map(toV2Pipeline) }
  return { value, etag: configuration.etag }
}

type DeployInputV2 = Pick<Input<typeof routesV2.deploy>, 'body' | 'query' | 'ifMatch'>

/**
 * Deploys a configuration of v1 or v2: converts the request to v3 and the response back. The
 * elements of a pipeline are in the field `pipeline`, which is `elements` in v3. Throws the errors
 * of a v3 deployment, with paths that refer to `pipeline`.
 */
export async function deployV2(
  configuration: Pick<Configuration, 'deploy'>,
  { body, query, ifMatch }: DeployInputV2,
  expandElements: ExpandElements,
): Promise<WithEtag<ConfigurationV2>> {
  const deployment = body.map(({ sources, pipeline, ...otherFields }, index) => ({
    ...otherFields,
    sources: sources.map(source => sourceInput.parse(source)),
    elements: expandElements(pipeline, `/${index}/pipeline`),
    // v2 has no priorities: `parse` returns the default of v3.
    priority: pipelineInput.shape.priority.parse(undefined),
  }))

  try {
    const { override } = query
    const deployed = await configuration.deploy(deployment, {
      ifMatch,
      override,
      recordingPolicy: 'keep',
    })
    return toV2Configuration(deployed)
  } catch (error) {
    if (!(error instanceof EyrieError)) throw error
    const { code, message, value, status } = error
    const messageV2 = message.replace(/^(\/\d+)\/elements/, '$1/pipeline')
    throw new EyrieError(code, messageV2, { value, status, cause: error })
  }
}
