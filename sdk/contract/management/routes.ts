import { organizationRoutes } from './organization.ts'
import type { ManagementRoute } from './route.ts'

/** The management API, by resource and operation. */
export const managementRoutes = {
  organization: organizationRoutes,
} as const satisfies Record<string, Record<string, ManagementRoute>>

export const allManagementRoutes: ManagementRoute[] = Object.values(managementRoutes).flatMap(resource =>
  Object.values(resource),
)
