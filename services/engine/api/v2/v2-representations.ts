import type {
  CatalogModel,
  Channel,
  EarlierModel,
  EarlierPipeline,
  EarlierSource,
  Pipeline,
  Platform,
  Source,
} from '@eyrie/contract'

/** How what is stored looks to revisions A and B, which know less of it. */

export const showSource = ({ decoder: _, recording: __, ...source }: Source): EarlierSource => source

export const showPipeline = ({ priority: _, ...pipeline }: Pipeline): EarlierPipeline => pipeline

export const streamId = (stream: Channel['stream']) => stream?.id ?? null

/** A model once for each platform on which it can run. */
export function showModels(models: CatalogModel[]): EarlierModel[] {
  const platforms = Map.groupBy(models, ({ name }) => name)
  return [...platforms].flatMap(([name, same]) =>
    [...new Set(same.map(({ hw }) => platformOf(hw)))].map(platform => ({ name, platform })),
  )
}

const platformOf = (hw: string): Platform => (hw === 'cpu' ? 'CPU' : 'GPU')
