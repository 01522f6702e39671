import type {
  CatalogModel,
  CatalogModelV2,
  Channel,
  Pipeline,
  PipelineV2,
  Platform,
  Source,
  SourceV2,
} from '@eyrie/contract'

/** How what is stored looks to revisions A and B, which know less of it. */

export const showSource = ({ decoder: _, recording: __, ...source }: Source): SourceV2 => source

export const showPipeline = ({ priority: _, ...pipeline }: Pipeline): PipelineV2 => pipeline

export const streamId = (stream: Channel['stream']) => stream?.id ?? null

/** A model once for each platform on which it can run. */
export function showModels(models: CatalogModel[]): CatalogModelV2[] {
  const platforms = Map.groupBy(models, ({ name }) => name)
  return [...platforms].flatMap(([name, same]) =>
    [...new Set(same.map(({ hw }) => platformOf(hw)))].map(platform => ({ name, platform })),
  )
}

const platformOf = (hw: string): Platform => (hw === 'cpu' ? 'CPU' : 'GPU')
