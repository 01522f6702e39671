import { aclRoutes } from './acl.ts'
import { alertRoutes } from './alert.ts'
import { auditRoutes } from './audit.ts'
import { channelRoutes } from './channel.ts'
import { customerRoutes } from './customer.ts'
import { deliveryRoutes } from './delivery.ts'
import { configRoutes } from './delivery-settings.ts'
import { deviceRoutes } from './device.ts'
import { eventRoutes } from './event.ts'
import { identityProviderRoutes } from './identity-provider.ts'
import { imageRoutes } from './image.ts'
import { engineRoutes } from './managed-engine.ts'
import { pipelineRoutes } from './managed-pipeline.ts'
import { sourceRoutes } from './managed-source.ts'
import type { ManagementRoute } from './management-route.ts'
import { mediaRoutes } from './media-ticket.ts'
import { notificationRoutes } from './notification.ts'
import { organizationRoutes } from './organization.ts'
import { roleRoutes } from './role.ts'
import { scheduleRoutes } from './schedule.ts'
import { sessionRoutes, signInRoutes } from './sign-in.ts'
import { siteRoutes } from './site.ts'
import { staticContentRoutes } from './static-content.ts'
import { tokenRoutes } from './token.ts'
import { totpRoutes } from './totp.ts'
import { usecaseRoutes } from './usecase.ts'
import { userRoutes } from './user.ts'

/** All routes of the management API, by resource and operation, as in `managementRoutes.site.create`. */
export const managementRoutes = {
  organization: organizationRoutes,
  customer: customerRoutes,
  site: siteRoutes,
  device: deviceRoutes,
  source: sourceRoutes,
  staticContent: staticContentRoutes,
  image: imageRoutes,
  engine: engineRoutes,
  pipeline: pipelineRoutes,
  channel: channelRoutes,
  usecase: usecaseRoutes,
  media: mediaRoutes,
  event: eventRoutes,
  alert: alertRoutes,
  notification: notificationRoutes,
  delivery: deliveryRoutes,
  schedule: scheduleRoutes,
  acl: aclRoutes,
  audit: auditRoutes,
  config: { ...configRoutes, ...identityProviderRoutes },
  role: roleRoutes,
  token: tokenRoutes,
  user: { ...signInRoutes, ...totpRoutes, ...userRoutes, ...sessionRoutes },
} as const satisfies Record<string, Record<string, ManagementRoute>>

/** The same routes as a flat list. */
export const allManagementRoutes: ManagementRoute[] = Object.values(managementRoutes).flatMap(
  resourceRoutes => Object.values(resourceRoutes),
)
