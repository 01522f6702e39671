import { aclRoutes } from './acl.ts'
import { alertRoutes } from './alert.ts'
import { alertPolicyRoutes } from './alert-policy.ts'
import { auditRoutes } from './audit.ts'
import { backupRoutes } from './backup-settings.ts'
import { calendarRoutes } from './calendar.ts'
import { channelRoutes } from './channel.ts'
import { customerRoutes } from './customer.ts'
import { deliveryRoutes } from './delivery.ts'
import { deliverySettingsRoutes } from './delivery-settings.ts'
import { deviceRoutes } from './device.ts'
import { enginePluginRoutes } from './engine-plugins.ts'
import { eventRoutes } from './event.ts'
import { feedRoutes } from './feed.ts'
import { identityProviderRoutes } from './identity-provider.ts'
import { imageRoutes } from './image.ts'
import { incidentRoutes } from './incident.ts'
import { jobRoutes } from './job.ts'
import { engineRoutes } from './managed-engine.ts'
import { pipelineRoutes } from './managed-pipeline.ts'
import { sourceRoutes } from './managed-source.ts'
import type { ManagementRoute } from './management-route.ts'
import { mediaRoutes } from './media-ticket.ts'
import { mqttRoutes } from './mqtt-settings.ts'
import { notificationRoutes } from './notification.ts'
import { organizationRoutes } from './organization.ts'
import { placementRoutes } from './placement.ts'
import { pushRoutes } from './push.ts'
import { reportRoutes } from './report.ts'
import { reportScheduleRoutes } from './report-schedule.ts'
import { roleRoutes } from './role.ts'
import { scheduleRoutes } from './schedule.ts'
import { scheduleExceptionRoutes } from './schedule-exception.ts'
import { sessionRoutes, signInRoutes } from './sign-in.ts'
import { siteRoutes } from './site.ts'
import { snoozeRoutes } from './snooze.ts'
import { staticContentRoutes } from './static-content.ts'
import { systemAlertRoutes } from './system-alert.ts'
import { tokenRoutes } from './token.ts'
import { totpRoutes } from './totp.ts'
import { usecaseRoutes } from './usecase.ts'
import { userRoutes } from './user.ts'

/**
 * All routes of the management API, by resource and operation, as in
 * `managementRoutes.site.create`.
 */
export const managementRoutes = {
  organization: organizationRoutes,
  customer: customerRoutes,
  site: siteRoutes,
  device: deviceRoutes,
  source: sourceRoutes,
  staticContent: staticContentRoutes,
  image: imageRoutes,
  engine: { ...engineRoutes, ...enginePluginRoutes },
  pipeline: pipelineRoutes,
  placement: placementRoutes,
  channel: channelRoutes,
  usecase: usecaseRoutes,
  media: mediaRoutes,
  event: eventRoutes,
  feed: feedRoutes,
  alert: { ...alertRoutes, ...alertPolicyRoutes },
  notification: notificationRoutes,
  delivery: deliveryRoutes,
  incident: incidentRoutes,
  snooze: snoozeRoutes,
  report: reportRoutes,
  reportSchedule: reportScheduleRoutes,
  schedule: scheduleRoutes,
  scheduleException: scheduleExceptionRoutes,
  calendar: calendarRoutes,
  systemAlert: systemAlertRoutes,
  acl: aclRoutes,
  audit: auditRoutes,
  config: { ...deliverySettingsRoutes, ...mqttRoutes, ...identityProviderRoutes, ...backupRoutes },
  job: jobRoutes,
  role: roleRoutes,
  token: tokenRoutes,
  user: { ...signInRoutes, ...totpRoutes, ...userRoutes, ...sessionRoutes, ...pushRoutes },
} as const satisfies Record<string, Record<string, ManagementRoute>>

/** The same routes as a flat list. */
export const allManagementRoutes: ManagementRoute[] = Object.values(managementRoutes).flatMap(
  resourceRoutes => Object.values(resourceRoutes),
)
