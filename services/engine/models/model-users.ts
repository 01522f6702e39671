import type { Pipeline, PipelineElement } from '@eyrie/contract/pipeline'
import type { KnownElements } from '../plugin-host/known-elements.ts'

/** Returns the ids of the pipelines with an element that runs the model of this name. */
export function findModelUsers(
  model: string,
  pipelines: readonly Pick<Pipeline, 'id' | 'elements'>[],
  elements: Pick<KnownElements, 'get'>,
): number[] {
  const runsModel = ({ name, args = {} }: PipelineElement) => {
    const parameter = elements.get(name)?.manifest.params_mapping.models?.name
    return parameter !== undefined && args[parameter] === model
  }
  return pipelines.filter(pipeline => pipeline.elements.some(runsModel)).map(({ id }) => id)
}
