import type { Catalog } from '@eyrie/contract'
import { pluginUsecase, USECASE_KEYWORD } from '@eyrie/contract/management/index'
import { isCustomKey } from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/open.ts'
import { usecase } from '../db/schema/index.ts'

/** Usecases that plugins bring, and keys that they add to those that are there, which stay what they are otherwise. */
export async function addUsecases(tx: Transaction, { elements = [] }: Catalog) {
  const brought = elements.flatMap(
    ({ output_schema }) => pluginUsecase.safeParse(output_schema?.[USECASE_KEYWORD]).data ?? [],
  )
  for (const { key, name, description, meta_keys } of brought) {
    const own = meta_keys.filter(meta => isCustomKey(meta.key))
    await tx
      .insert(usecase)
      .values({
        usecase_key: key,
        usecase_name: name,
        usecase_desc: description,
        usecase_component_key: key,
        usecase_meta_key: meta_keys.map(meta => meta.key),
        usecase_aggregations: Object.fromEntries(own.map(meta => [meta.key, meta.aggregation])),
      })
      .onConflictDoUpdate({
        target: usecase.usecase_key,
        set: {
          usecase_meta_key: sql`${usecase.usecase_meta_key} || array(
            select added from unnest(excluded.usecase_meta_key) added where added <> all (${usecase.usecase_meta_key}))`,
          usecase_aggregations: sql`${usecase.usecase_aggregations} || excluded.usecase_aggregations`,
        },
      })
  }
}
