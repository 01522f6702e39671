import { customerInput, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { customer, image, organization } from '../../../db/schema/index.ts'
import type { ImageStore } from '../../../images/image-store.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Operation,
} from '../../api/operation.ts'
import { assertChanged, assertReferencesExist } from '../../api/references.ts'

const { create, update, delete: remove, id, list } = managementRoutes.organization

export const organizationOperations = (images: ImageStore): Operation[] => [
  defineOperation(create, async ({ input }, tx) => {
    const [created] = await tx.insert(organization).values(input).returning()
    const { organization_id } = created!
    await tx.insert(customer).values(toDefaultCustomer(organization_id))
    return { created: organization_id }
  }),

  defineOperation(update, async ({ input: { organization_id, ...fields } }, tx) => {
    const isSame = eq(organization.organization_id, organization_id)
    assertChanged(await tx.update(organization).set(fields).where(isSame).returning())
    return undefined
  }),

  defineMultiStepOperation(remove, async ({ input, caller }, database) => {
    const { organization_id } = input
    const deletedImages = await database.as(caller, remove.path, async tx => {
      await assertReferencesExist(tx, remove, input)
      // The default customer and images have no delete operation. Postgres rejects the deletion while there are sites.
      await tx.delete(customer).where(and(eq(customer.organization_id, organization_id), customer.is_default))
      const rows = await tx.delete(image).where(eq(image.organization_id, organization_id)).returning()
      await tx.delete(organization).where(eq(organization.organization_id, organization_id))
      return rows
    })
    // Only after the commit, so that a rejected deletion keeps all files.
    for (const { path } of deletedImages) await images.remove(path)
    return undefined
  }),

  defineLookup(id, async ({ input: { organization_id } }, tx) => {
    const [row] = await findOrganizations(tx, eq(organization.organization_id, organization_id))
    return row
  }),

  defineOperation(list, async (_, tx) => ({
    value: await findOrganizations(tx),
  })),
]

const findOrganizations = (tx: Transaction, condition?: SQL) =>
  tx
    .select()
    .from(organization)
    .where(condition)
    .orderBy(organization.organization_name)
    .prepare('organizations')
    .execute()

/** Holds the sites of an organization that are assigned to no other customer. */
const toDefaultCustomer = (organization_id: string) => ({
  organization_id,
  customer_key: 'default',
  customer_name: 'Default',
  customer_address: customerInput.shape.customer_address.parse({}),
  is_default: true,
})
