import { aclRoutes } from './acl.ts'
import { auditRoutes } from './audit.ts'
import { configRoutes } from './config.ts'
import { customerRoutes } from './customer.ts'
import { deviceRoutes } from './device.ts'
import { imageRoutes } from './image.ts'
import { organizationRoutes } from './organization.ts'
import { roleRoutes } from './role.ts'
import type { ManagementRoute } from './route.ts'
import { siteRoutes } from './site.ts'
import { sourceRoutes } from './source.ts'
import { staticContentRoutes } from './static-content.ts'
import { tokenRoutes } from './token.ts'
import { userRoutes } from './user.ts'

/** The management API, by resource and operation. */
export const managementRoutes = {
  organization: organizationRoutes,
  customer: customerRoutes,
  site: siteRoutes,
  device: deviceRoutes,
  source: sourceRoutes,
  staticContent: staticContentRoutes,
  image: imageRoutes,
  acl: aclRoutes,
  audit: auditRoutes,
  config: configRoutes,
  role: roleRoutes,
  token: tokenRoutes,
  user: userRoutes,
} as const satisfies Record<string, Record<string, ManagementRoute>>

export const allManagementRoutes: ManagementRoute[] = Object.values(managementRoutes).flatMap(resource =>
  Object.values(resource),
)
