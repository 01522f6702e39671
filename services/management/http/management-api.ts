import type { Egress, Log } from '@eyrie/kit'
import type { Hono } from 'hono'
import type { MessageSettings } from '../alerts/preview-message.ts'
import type { Database } from '../db/database.ts'
import type { PictureStore } from '../events/pictures/picture-store.ts'
import type { LiveFeed } from '../feed/live-feed.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { ImageStore } from '../images/image-store.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Users } from '../users/users.ts'
import { createApi } from './api/api-routes.ts'
import { createIdentifyCaller } from './auth/identify-caller.ts'
import { apiTokenOperations } from './operations/accounts/api-token-operations.ts'
import { pushOperations } from './operations/accounts/push-operations.ts'
import { signInOperations } from './operations/accounts/sign-in-operations.ts'
import { totpOperations } from './operations/accounts/totp-operations.ts'
import { userConfigOperations } from './operations/accounts/user-config-operations.ts'
import { userOperations } from './operations/accounts/user-operations.ts'
import { aclOperations } from './operations/administration/acl-operations.ts'
import { auditOperations } from './operations/administration/audit-operations.ts'
import { backupSettingsOperations } from './operations/administration/backup-settings-operations.ts'
import { deliverySettingsOperations } from './operations/administration/delivery-settings-operations.ts'
import { identityProviderOperations } from './operations/administration/identity-provider-operations.ts'
import { imageOperations } from './operations/administration/image-operations.ts'
import { jobOperations } from './operations/administration/job-operations.ts'
import { staticContentOperations } from './operations/administration/static-content-operations.ts'
import { systemAlertOperations } from './operations/administration/system-alert-operations.ts'
import { channelOperations } from './operations/analytics/channel-operations.ts'
import { engineOperations } from './operations/analytics/engine-operations.ts'
import { joinOperations } from './operations/analytics/join-operations.ts'
import { pipelineOperations } from './operations/analytics/pipeline-operations.ts'
import { placementOperations } from './operations/analytics/placement-operations.ts'
import { sourceOperations } from './operations/analytics/source-operations.ts'
import { alertOperations } from './operations/events/alert-operations.ts'
import { calendarOperations } from './operations/events/calendar-operations.ts'
import { deliveryOperations } from './operations/events/delivery-operations.ts'
import { eventOperations } from './operations/events/event-operations.ts'
import { feedOperations } from './operations/events/feed-operations.ts'
import { notificationOperations } from './operations/events/notification-operations.ts'
import { reportOperations } from './operations/events/report-operations.ts'
import { reportScheduleOperations } from './operations/events/report-schedule-operations.ts'
import { scheduleExceptionOperations } from './operations/events/schedule-exception-operations.ts'
import { scheduleOperations } from './operations/events/schedule-operations.ts'
import { customerOperations } from './operations/hierarchy/customer-operations.ts'
import { deviceOperations } from './operations/hierarchy/device-operations.ts'
import { organizationOperations } from './operations/hierarchy/organization-operations.ts'
import { siteOperations } from './operations/hierarchy/site-operations.ts'
import { alertPolicyOperations } from './operations/incidents/alert-policy-operations.ts'
import { incidentOperations } from './operations/incidents/incident-operations.ts'
import { snoozeOperations } from './operations/incidents/snooze-operations.ts'

/** The components that the operations of the management API use. */
export interface ManagementApiOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  users: Users
  secrets: Secrets
  /** Opens the connections to engines. */
  egress: Egress
  fleet: Fleet
  images: ImageStore
  pictures: Pick<PictureStore, 'read'>
  liveFeed: LiveFeed
  /** Whether anyone may register, not only administrators. */
  isRegistrationOpen: boolean
  messageSettings: MessageSettings
  /** The join token in the environment of this service. */
  joinToken: string | undefined
  log: Log
}

/** Creates the management API with all its operations, to be mounted under `/api/v1`. */
export function createManagementApi(options: ManagementApiOptions): Hono {
  const {
    database,
    users,
    secrets,
    egress,
    fleet,
    images,
    pictures,
    liveFeed,
    isRegistrationOpen,
    messageSettings,
    joinToken,
    log,
  } = options
  const { accessTokens, passwords, principals, now } = users
  const nowMs = () => now().getTime()

  const identify = createIdentifyCaller(() => users, database)
  const operations = [
    // Accounts
    ...signInOperations({ accessTokens, passwords, secrets, isRegistrationOpen, now }),
    ...pushOperations(secrets),
    ...totpOperations({ passwords, secrets, now }),
    ...userOperations({ passwords, now }),
    ...userConfigOperations,
    ...apiTokenOperations(now),

    // Administration
    ...auditOperations(now),
    ...aclOperations,
    ...deliverySettingsOperations(secrets),
    ...identityProviderOperations(secrets),
    ...backupSettingsOperations(secrets),
    ...jobOperations,
    ...systemAlertOperations(secrets, now),
    ...staticContentOperations,
    ...imageOperations(images),

    // Organizations and what belongs to them
    ...organizationOperations(images),
    ...customerOperations,
    ...siteOperations,
    ...deviceOperations(secrets),

    // Analytics
    ...engineOperations({ secrets, fleet, egress }),
    ...joinOperations({ secrets, configuredToken: joinToken }),
    ...sourceOperations(secrets),
    ...pipelineOperations,
    ...placementOperations,
    ...channelOperations({ secrets, egress, now }),

    // Events and alerts
    ...eventOperations(nowMs),
    ...feedOperations({ feed: liveFeed, identify, database, log }),
    ...notificationOperations(pictures, nowMs),
    ...alertOperations,
    ...deliveryOperations(now, messageSettings),
    ...scheduleOperations(nowMs),
    ...scheduleExceptionOperations,
    ...calendarOperations(now),
    ...reportOperations(nowMs),
    ...reportScheduleOperations(nowMs),

    // Incidents
    ...alertPolicyOperations,
    ...incidentOperations(now),
    ...snoozeOperations(now),
  ]

  // A change may affect the rights of callers, which `principals` caches.
  return createApi({ operations, database, identify, onChange: principals.clear, log })
}
