import { type ConfigurationV2, EyrieError, pipelineInput, sourceInput } from '@eyrie/contract'
import type { routesV2 } from '@eyrie/contract/routes-v2'
import type { Configuration } from '../../configuration/configuration.ts'
import type { Tagged } from '../../configuration/etag.ts'
import type { LongForms } from '../operations/short-form.ts'
import type { Input } from '../routing/operation.ts'
import { showPipeline, showSource } from './v2-representations.ts'

type Stored = ReturnType<Configuration['get']>

export function showConfiguration({ value, etag }: Stored): Tagged<ConfigurationV2> {
  const { sources, sinks, pipelines } = value
  return { value: { sources: sources.map(showSource), sinks, pipelines: pipelines.map(showPipeline) }, etag }
}

/** Deploys what revisions A and B describe; its elements stand under `pipeline`, and so they are named in errors. */
export async function deployEarlier(
  configuration: Pick<Configuration, 'deploy'>,
  { body, query, ifMatch }: Pick<Input<typeof routesV2.deploy>, 'body' | 'query' | 'ifMatch'>,
  longForms: LongForms,
): Promise<Tagged<ConfigurationV2>> {
  const objects = body.map(({ sources, pipeline, ...rest }, index) => ({
    ...rest,
    sources: sources.map(source => sourceInput.parse(source)),
    elements: longForms(pipeline, `/${index}/pipeline`),
    priority: pipelineInput.shape.priority.parse(undefined),
  }))
  try {
    return showConfiguration(await configuration.deploy(objects, ifMatch, query.override, 'keep'))
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
