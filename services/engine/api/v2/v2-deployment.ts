import { type ConfigurationV2, EyrieError, pipelineInput, sourceInput } from '@eyrie/contract'
import type { routesV2 } from '@eyrie/contract/routes-v2'
import type { Configuration } from '../../configuration/configuration.ts'
import type { Tagged } from '../../configuration/etag.ts'
import type { ExpandElements } from '../operations/short-form.ts'
import type { Input } from '../routing/operation.ts'
import { toV2Pipeline, toV2Source } from './v2-resources.ts'

export function toV2Configuration({
  value,
  etag,
}: ReturnType<Configuration['get']>): Tagged<ConfigurationV2> {
  const { sources, sinks, pipelines } = value
  return { value: { sources: sources.map(toV2Source), sinks, pipelines: pipelines.map(toV2Pipeline) }, etag }
}

/** Deploys a configuration of v1 or v2, whose elements are in the field `pipeline`. Errors refer to that field too. */
export async function deployV2(
  configuration: Pick<Configuration, 'deploy'>,
  { body, query, ifMatch }: Pick<Input<typeof routesV2.deploy>, 'body' | 'query' | 'ifMatch'>,
  expandElements: ExpandElements,
): Promise<Tagged<ConfigurationV2>> {
  const deployment = body.map(({ sources, pipeline, ...rest }, index) => ({
    ...rest,
    sources: sources.map(source => sourceInput.parse(source)),
    elements: expandElements(pipeline, `/${index}/pipeline`),
    priority: pipelineInput.shape.priority.parse(undefined),
  }))
  try {
    return toV2Configuration(await configuration.deploy(deployment, ifMatch, query.override, 'keep'))
  } catch (error) {
    if (!(error instanceof EyrieError)) throw error
    const { code, message, value, status } = error
    throw new EyrieError(code, message.replace(/^(\/\d+)\/elements/, '$1/pipeline'), {
      value,
      status,
      cause: error,
    })
  }
}
