import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import type { Hono } from 'hono'
import { createApi } from './api/api.ts'
import type { Database } from './db/open.ts'
import { createImageStore } from './images/store.ts'
import { aclOperations } from './operations/acl.ts'
import { configOperations } from './operations/config.ts'
import { customerOperations } from './operations/customer.ts'
import { customerViewOperations } from './operations/customer-view.ts'
import { deviceOperations } from './operations/device.ts'
import { imageOperations } from './operations/image.ts'
import { organizationOperations } from './operations/organization.ts'
import { siteOperations } from './operations/site.ts'
import { sourceOperations } from './operations/source.ts'
import { staticContentOperations } from './operations/static-content.ts'
import { readSecrets } from './secrets/secrets.ts'
import { createUsers } from './users/users.ts'

export interface BackendOptions {
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  /** Folder of the appliance's data. */
  data: string
  log: Log
  now?: () => Date
}

/** What stands behind the management API. */
export interface Backend {
  /** Served under `/api/v1`. */
  api: Hono
}

export async function createBackend({
  database,
  data,
  log,
  now = () => new Date(),
}: BackendOptions): Promise<Backend> {
  const users = await createUsers({ database, data, now })
  const secrets = readSecrets(data)
  const operations = [
    ...users.operations,
    ...aclOperations,
    ...configOperations(secrets),
    ...organizationOperations,
    ...customerOperations,
    ...customerViewOperations,
    ...siteOperations,
    ...deviceOperations(secrets),
    ...sourceOperations,
    ...staticContentOperations,
    ...imageOperations(createImageStore(resolve(data, 'management/images'))),
  ]
  return { api: createApi({ operations, database, identify: users.identify, log }) }
}
