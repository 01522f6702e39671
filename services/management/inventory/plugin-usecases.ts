import type { Catalog } from '@eyrie/contract'
import {
  type PluginUsecase,
  pluginUsecase,
  USECASE_KEYWORD,
} from '@eyrie/contract/management/index'
import { isCustomKey } from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { usecase } from '../db/schema/index.ts'

/**
 * Adds the usecases that plugins declare in the catalog of an engine. To a usecase that exists,
 * only missing statistics are added.
 */
export async function addPluginUsecases(
  tx: Transaction,
  { elements = [] }: Catalog,
): Promise<void> {
  for (const { output_schema: schema } of elements) {
    const declared = pluginUsecase.safeParse(schema?.[USECASE_KEYWORD])
    if (declared.success) await addUsecase(tx, declared.data)
  }
}

async function addUsecase(
  tx: Transaction,
  { key, name, description, meta_keys: statistics }: PluginUsecase,
): Promise<void> {
  const customStatistics = statistics.filter(statistic => isCustomKey(statistic.key))
  await tx
    .insert(usecase)
    .values({
      usecase_key: key,
      usecase_name: name,
      usecase_desc: description,
      usecase_component_key: key,
      usecase_meta_key: statistics.map(statistic => statistic.key),
      usecase_aggregations: Object.fromEntries(
        customStatistics.map(statistic => [statistic.key, statistic.aggregation]),
      ),
    })
    // `excluded` is the row that could not be inserted, because the usecase exists.
    .onConflictDoUpdate({
      target: usecase.usecase_key,
      set: {
        usecase_meta_key: sql`${usecase.usecase_meta_key} || array(
          select added
          from unnest(excluded.usecase_meta_key) added
          where added <> all (${usecase.usecase_meta_key})
        )`,
        usecase_aggregations: sql`${usecase.usecase_aggregations} || excluded.usecase_aggregations`,
      },
    })
}
