import { customerInput, organizationRoutes } from '@eyrie/contract/management/index'
import { and, eq, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { customer, image, organization } from '../../../db/schema/index.ts'
import type { ImageStore } from '../../../images/image-store.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Operation,
} from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

/**
 * API operations on organizations, which own all other records. `assertChanged` throws if the
 * caller may read an organization but not change it.
 */
export const organizationOperations = (images: ImageStore): Operation[] => [
  defineOperation(organizationRoutes.create, async ({ input }, tx) => {
    const created = firstRow(await tx.insert(organization).values(input).returning())
    const { organization_id: organizationId } = created
    await tx.insert(customer).values(createDefaultCustomer(organizationId))
    return { createdId: organizationId }
  }),

  defineOperation(organizationRoutes.update, async ({ input }, tx) => {
    const { organization_id: organizationId, ...fields } = input
    const isOrganization = eq(organization.organization_id, organizationId)
    assertChanged(await tx.update(organization).set(fields).where(isOrganization).returning())
  }),

  defineMultiStepOperation(organizationRoutes.delete, async ({ input, caller }, database) => {
    const { organization_id: organizationId } = input
    const deletedImages = await database.as(caller, organizationRoutes.delete.path, async tx => {
      await assertReferencesExist(tx, organizationRoutes.delete, input)
      // Users cannot delete the default customer or images, so they are deleted here. Other
      // records block the deletion.
      await tx
        .delete(customer)
        .where(and(eq(customer.organization_id, organizationId), customer.is_default))
      const rows = await tx
        .delete(image)
        .where(eq(image.organization_id, organizationId))
        .returning()
      await tx.delete(organization).where(eq(organization.organization_id, organizationId))
      return rows
    })

    // Files are deleted after the commit, because Postgres may reject the deletion.
    for (const { path } of deletedImages) await images.remove(path)
  }),

  defineLookup(organizationRoutes.get, async ({ input: { organization_id } }, tx) => {
    const [row] = await findOrganizations(tx, eq(organization.organization_id, organization_id))
    return row
  }),

  defineOperation(organizationRoutes.list, async (_, tx) => ({
    value: await findOrganizations(tx),
  })),
]

const findOrganizations = (tx: Transaction, condition?: SQL) =>
  tx.select().from(organization).where(condition).orderBy(organization.organization_name)

/** The default customer has the sites of an organization that belong to no other customer. */
const createDefaultCustomer = (organizationId: string) => ({
  organization_id: organizationId,
  customer_key: 'default',
  customer_name: 'Default',
  customer_address: customerInput.shape.customer_address.parse({}),
  is_default: true,
})
