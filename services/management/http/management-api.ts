import type { Log } from '@eyrie/kit'
import type { Hono } from 'hono'
import type { Database } from '../db/database.ts'
import type { PictureStore } from '../events/pictures/picture-store.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { ImageStore } from '../images/image-store.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Users } from '../users/users.ts'
import { createApi } from './api/api-routes.ts'
import { createIdentify } from './auth/identify-caller.ts'
import { tokenOperations } from './operations/accounts/api-token-operations.ts'
import { roleOperations } from './operations/accounts/role-operations.ts'
import { sessionOperations } from './operations/accounts/session-operations.ts'
import { signInOperations } from './operations/accounts/sign-in-operations.ts'
import { userConfigOperations } from './operations/accounts/user-config-operations.ts'
import { userOperations } from './operations/accounts/user-operations.ts'
import { aclOperations } from './operations/administration/acl-operations.ts'
import { auditOperations } from './operations/administration/audit-operations.ts'
import { configOperations } from './operations/administration/delivery-settings-operations.ts'
import { imageOperations } from './operations/administration/image-operations.ts'
import { staticContentOperations } from './operations/administration/static-content-operations.ts'
import { channelOperations } from './operations/analytics/channel-operations.ts'
import { engineOperations } from './operations/analytics/engine-operations.ts'
import { mediaOperations } from './operations/analytics/media-ticket-operation.ts'
import { pipelineOperations } from './operations/analytics/pipeline-operations.ts'
import { sourceOperations } from './operations/analytics/source-operations.ts'
import { usecaseOperations } from './operations/analytics/usecase-operations.ts'
import { alertOperations } from './operations/events/alert-operations.ts'
import { eventOperations } from './operations/events/event-operations.ts'
import { notificationOperations } from './operations/events/notification-operations.ts'
import { scheduleOperations } from './operations/events/schedule-operations.ts'
import { customerOperations } from './operations/hierarchy/customer-operations.ts'
import { customerViewOperations } from './operations/hierarchy/customer-view-operations.ts'
import { deviceOperations } from './operations/hierarchy/device-operations.ts'
import { organizationOperations } from './operations/hierarchy/organization-operations.ts'
import { siteOperations } from './operations/hierarchy/site-operations.ts'

export interface ManagementApiOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  users: Users
  secrets: Secrets
  fleet: Fleet
  images: ImageStore
  pictures: Pick<PictureStore, 'read'>
  log: Log
}

/** All operations of the management API, to be mounted under `/api/v1`. */
export function createManagementApi(options: ManagementApiOptions): Hono {
  const { database, users, secrets, fleet, images, pictures, log } = options
  const { accessTokens, passwords, principals, now } = users
  const epochMs = () => now().getTime()
  const operations = [
    ...signInOperations({ accessTokens, passwords, now }),
    ...userOperations({ passwords, now }),
    ...userConfigOperations,
    ...sessionOperations(now),
    ...roleOperations,
    ...tokenOperations(now),
    ...auditOperations(now),
    ...aclOperations,
    ...configOperations(secrets),
    ...organizationOperations(images),
    ...customerOperations,
    ...customerViewOperations,
    ...siteOperations,
    ...deviceOperations(secrets),
    ...sourceOperations,
    ...staticContentOperations,
    ...engineOperations({ secrets, fleet }),
    ...pipelineOperations,
    ...channelOperations,
    ...usecaseOperations,
    ...mediaOperations(secrets),
    ...eventOperations(epochMs),
    ...notificationOperations(pictures, epochMs),
    ...alertOperations,
    ...scheduleOperations,
    ...imageOperations(images),
  ]
  const identify = createIdentify(users, database)
  return createApi({ operations, database, identify, onChange: principals.clear, log })
}
