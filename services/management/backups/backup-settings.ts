import { REDACTED } from '@eyrie/contract/address'
import { type BackupSettings, backupSettings } from '@eyrie/contract/management/backup-settings'
import type { Transaction } from '../db/database.ts'
import { fieldError } from '../errors/field-errors.ts'
import type { Secrets } from '../secrets/secrets.ts'
import {
  readRedactedSettings,
  readStoredSettings,
  type SettingsKind,
  updateStoredSettings,
} from '../settings/stored-settings.ts'

const BACKUP_SETTINGS: SettingsKind<BackupSettings> = {
  name: 'backup',
  schema: backupSettings,
  defaults: {
    backup_target: 'off',
    backup_folder: '',
    backup_s3_endpoint: '',
    backup_s3_region: 'us-east-1',
    backup_s3_bucket: '',
    backup_s3_prefix: '',
    backup_s3_access_key: '',
    backup_s3_secret_key: '',
    backup_passphrase: '',
    backup_keep: 7,
    backup_keep_days: 0,
  },
  secretKeys: ['backup_s3_secret_key', 'backup_passphrase'],
}

/** The settings that must not be empty for each target. */
const REQUIRED_SETTINGS = {
  off: [],
  folder: ['backup_folder', 'backup_passphrase'],
  s3: [
    'backup_s3_endpoint',
    'backup_s3_bucket',
    'backup_s3_access_key',
    'backup_s3_secret_key',
    'backup_passphrase',
  ],
} as const satisfies Record<BackupSettings['backup_target'], readonly (keyof BackupSettings)[]>

/** Returns the settings with decrypted secrets. */
export const readBackupSettings = (tx: Transaction, secrets: Secrets): Promise<BackupSettings> =>
  readStoredSettings(tx, BACKUP_SETTINGS, secrets)

/** Returns the settings with placeholders for the secrets. */
export const readRedactedBackupSettings = (tx: Transaction): Promise<BackupSettings> =>
  readRedactedSettings(tx, BACKUP_SETTINGS)

/**
 * Updates the settings in `changes`. Throws `EyrieError` (`syntax`) if a setting that the target
 * requires is missing, or if the endpoint changes and the secret key is not sent again: another
 * endpoint must not receive the stored key.
 */
export async function updateBackupSettings(
  tx: Transaction,
  changes: Partial<BackupSettings>,
  secrets: Secrets,
): Promise<void> {
  // In the stored and in the updated settings, a placeholder replaces each secret that is retained.
  const stored = await readRedactedBackupSettings(tx)
  const updated = { ...stored, ...changes }

  const { backup_s3_secret_key: sentKey = REDACTED } = changes
  const retainsKey = sentKey === REDACTED && stored.backup_s3_secret_key !== ''
  if (retainsKey && updated.backup_s3_endpoint !== stored.backup_s3_endpoint) {
    throw fieldError('backup_s3_secret_key', 'must be sent again, because the endpoint changes')
  }
  const target = updated.backup_target
  const missing = REQUIRED_SETTINGS[target].find(name => updated[name] === '')
  if (missing) throw fieldError(missing, `is required for the target ${target}`)
  await updateStoredSettings(tx, BACKUP_SETTINGS, changes, secrets)
}
