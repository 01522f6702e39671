import { z } from 'zod'
import { REDACTED } from '../address.ts'
import { MIN_PASSPHRASE_LENGTH } from '../backup.ts'
import { route } from './management-route.ts'
import { emptyOr, text } from './record-fields.ts'

/**
 * Settings in the management API for scheduled backups: where they are stored, and for how long.
 */

const MAX_BACKUPS = 10_000
const MAX_DAYS = 3650

/** Whether this is the HTTP address of a server, without path, query, fragment and user. */
function isEndpoint(value: string): boolean {
  const url = URL.parse(value)
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && !/[?#@]/.test(value)
  )
}

const isFolder = (value: string) => value.startsWith('/') && !value.split('/').includes('..')

/** Names of buckets (Amazon S3 User Guide, bucket naming rules). */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** Characters that need no escaping in a path. */
const PREFIX = /^(?:[\w.-]+\/)*[\w.-]*$/

export const backupSettings = z
  .object({
    backup_target: z
      .enum(['off', 'folder', 's3'])
      .meta({ description: 'Where backups are written' }),
    backup_folder: emptyOr(isFolder, 'must be an absolute path such as /mnt/backups').meta({
      description:
        'Folder on a disk or a network drive. The user that runs management writes to it',
    }),
    backup_s3_endpoint: emptyOr(
      isEndpoint,
      'must be an address such as https://s3.example.com',
    ).meta({
      description: 'Address of an S3-compatible storage, without the bucket',
    }),
    backup_s3_region: text.regex(/^[\w-]{1,64}$/, { error: 'must be a region such as us-east-1' }),
    backup_s3_bucket: emptyOr(value => BUCKET.test(value), 'must be the name of a bucket'),
    backup_s3_prefix: text
      .regex(PREFIX, { error: 'must be a prefix such as eyrie/site-1/' })
      .meta({ description: 'Beginning of the names of the backups in the bucket' }),
    backup_s3_access_key: text,
    backup_s3_secret_key: text,
    backup_passphrase: emptyOr(
      value => value.length >= MIN_PASSPHRASE_LENGTH || value === REDACTED,
      `must have at least ${MIN_PASSPHRASE_LENGTH} characters`,
    ).meta({
      description:
        'Encrypts the backups. They cannot be restored without it: store it outside this appliance',
    }),
    backup_keep: z.int().min(1).max(MAX_BACKUPS).meta({
      description: 'Number of backups to retain. Older ones are deleted after a backup',
    }),
    backup_keep_days: z.int().min(0).max(MAX_DAYS).meta({
      description:
        'Number of days for which every backup is retained, even if there are more than backup_keep',
    }),
  })
  .meta({ id: 'BackupSettings' })
export type BackupSettings = z.infer<typeof backupSettings>

export const backupRoutes = {
  getBackup: route({
    method: 'get',
    path: '/config/backup',
    summary: 'Get the settings of scheduled backups',
    description: 'The secret key and the passphrase are ***.',
    access: 'own',
    status: 200,
    response: backupSettings,
  }),

  updateBackup: route({
    method: 'post',
    path: '/config/backup/update',
    summary: 'Update the settings of scheduled backups',
    description:
      'Omitted fields are preserved. The secret key has to be sent again when the endpoint changes.',
    access: 'own',
    requiresSession: true,
    body: backupSettings.strict().partial(),
    status: 200,
    response: null,
  }),
}
