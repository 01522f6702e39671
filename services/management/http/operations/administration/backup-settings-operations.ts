import { backupRoutes } from '@eyrie/contract/management/index'
import {
  readRedactedBackupSettings,
  updateBackupSettings,
} from '../../../backups/backup-settings.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/** API operations on the settings of scheduled backups. */
export const backupSettingsOperations = (secrets: Secrets): Operation[] => [
  defineOperation(backupRoutes.getBackup, async (_, tx) => ({
    value: await readRedactedBackupSettings(tx),
  })),

  defineOperation(backupRoutes.updateBackup, async ({ input }, tx) => {
    await updateBackupSettings(tx, input, secrets)
  }),
]
