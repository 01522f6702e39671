import { managementRoutes } from '@eyrie/contract/management/index'
import { readRedactedBackupSettings, updateBackupSettings } from '../../../backups/backup-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const routes = managementRoutes.config

/** API operations on the settings of scheduled backups. */
export const backupSettingsOperations = (secrets: Secrets): Operation[] => [
  defineOperation(routes.backup, async (_, tx) => ({ value: await readRedactedBackupSettings(tx) })),

  defineOperation(routes.updateBackup, async ({ input }, tx) => {
    await updateBackupSettings(tx, input, secrets)
    return undefined
  }),
]
