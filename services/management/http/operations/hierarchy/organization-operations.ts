import { customerInput, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { customer, image, organization } from '../../../db/schema/index.ts'
import type { ImageStore } from '../../../images/image-store.ts'
import { longOperation, lookup, type Operation, operation } from '../../api/operation.ts'
import { assertChanged, findReferences } from '../../api/references.ts'

const { create, update, delete: remove, id, list } = managementRoutes.organization

export const organizationOperations = (images: ImageStore): Operation[] => [
  operation(create, async ({ input }, tx) => {
    const [made] = await tx.insert(organization).values(input).returning()
    const { organization_id } = made!
    await tx.insert(customer).values(defaultCustomer(organization_id))
    return { created: organization_id }
  }),

  operation(update, async ({ input: { organization_id, ...fields } }, tx) => {
    const one = eq(organization.organization_id, organization_id)
    assertChanged(await tx.update(organization).set(fields).where(one).returning())
    return undefined
  }),

  longOperation(remove, async ({ input, caller }, database) => {
    const { organization_id } = input
    const shown = await database.as(caller, remove.path, async tx => {
      await findReferences(tx, remove, input)
      // These go with their organization, for nobody could delete them; that sites are still in it, Postgres tells.
      await tx.delete(customer).where(and(eq(customer.organization_id, organization_id), customer.is_default))
      const gone = await tx.delete(image).where(eq(image.organization_id, organization_id)).returning()
      await tx.delete(organization).where(eq(organization.organization_id, organization_id))
      return gone
    })
    // Last, so that a deletion which is refused takes none.
    for (const { path } of shown) await images.remove(path)
    return undefined
  }),

  lookup(id, async ({ input: { organization_id } }, tx) => {
    const [found] = await organizations(tx, eq(organization.organization_id, organization_id))
    return found
  }),

  operation(list, async (_, tx) => ({
    value: await organizations(tx),
  })),
]

const organizations = (tx: Transaction, condition?: SQL) =>
  tx
    .select()
    .from(organization)
    .where(condition)
    .orderBy(organization.organization_name)
    .prepare('organizations')
    .execute()

/** Holds the sites of an organization that are assigned to no other customer. */
const defaultCustomer = (organization_id: string) => ({
  organization_id,
  customer_key: 'default',
  customer_name: 'Default',
  customer_address: customerInput.shape.customer_address.parse({}),
  is_default: true,
})
