import { z } from 'zod'
import { route } from './management-route.ts'
import { recordId } from './record-fields.ts'

/** All roles from highest to lowest. */
export const ROLE_KEYS = ['superadmin', 'admin', 'manager', 'viewer'] as const

/** A role in the management API: a named set of permissions. Each user has at most one role. */
export const role = z
  .object({ role_id: recordId, role_key: z.string(), role_name: z.string() })
  .meta({ id: 'Role' })
export type Role = z.infer<typeof role>

export const roleRoutes = {
  list: route({
    method: 'get',
    path: '/role/list',
    summary: 'List roles',
    description: 'Highest first.',
    access: 'signed-in',
    status: 200,
    response: z.array(role),
  }),
}
