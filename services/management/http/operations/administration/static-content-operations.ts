import { staticContentRoutes } from '@eyrie/contract/management/index'
import { asc, eq, getTableColumns } from 'drizzle-orm'
import { firstRow } from '../../../db/rows.ts'
import { source, staticContent } from '../../../db/schema/index.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on static content: JSON data that clients attach to a source. Each operation runs
 * in one transaction, `tx`, with the rights of the caller. `assertChanged` throws if the caller may
 * read the record but not change it.
 */
export const staticContentOperations = [
  defineOperation(staticContentRoutes.create, async ({ input }, tx) => {
    const created = firstRow(await tx.insert(staticContent).values(input).returning())
    return { createdId: created.static_content_id }
  }),

  defineOperation(staticContentRoutes.update, async ({ input }, tx) => {
    const { static_content_id: staticContentId, ...fields } = input
    const condition = eq(staticContent.static_content_id, staticContentId)
    assertChanged(await tx.update(staticContent).set(fields).where(condition).returning())
  }),

  defineOperation(staticContentRoutes.delete, async ({ input }, tx) => {
    const condition = eq(staticContent.static_content_id, input.static_content_id)
    assertChanged(await tx.delete(staticContent).where(condition).returning())
  }),

  defineLookup(staticContentRoutes.get, async ({ input }, tx) => {
    const [row] = await tx
      .select()
      .from(staticContent)
      .where(eq(staticContent.static_content_id, input.static_id))
    return row
  }),

  defineOperation(staticContentRoutes.list, async ({ input }, tx) => ({
    value: await tx
      .select(getTableColumns(staticContent))
      .from(staticContent)
      .innerJoin(source, eq(source.source_id, staticContent.source_id))
      .where(eq(source.device_id, input.device_id))
      .orderBy(asc(staticContent.id)),
  })),
]
