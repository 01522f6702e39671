import { managementRoutes } from '@eyrie/contract/management/index'
import { role } from '../../../db/schema/index.ts'
import { roles } from '../../../rights/principal.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const ranks: readonly string[] = roles

export const roleOperations: Operation[] = [
  defineOperation(managementRoutes.role.list, async (_, tx) => {
    const found = await tx.select().from(role)
    return { value: found.toSorted((a, b) => ranks.indexOf(a.role_key) - ranks.indexOf(b.role_key)) }
  }),
]
