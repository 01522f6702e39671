import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import { toUnfinishedFolder } from '@eyrie/kit/backup-program'
import { describe, expect, it } from 'vitest'
import { S3_BUCKET, S3_KEY, startS3Server } from '../../../test/fixtures/management/s3-server.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { backupEgress } from '../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { setting } from '../db/schema/index.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { backUp } from '../upkeep/backup.ts'
import { useInstallation } from '../upkeep/installation.fixture.ts'
import { restore } from '../upkeep/restore.ts'
import type { WriteArchive } from './archive-writer.ts'
import { readBackupSettings, updateBackupSettings } from './backup-settings.ts'
import { runScheduledBackup } from './scheduled-backup.ts'

const passphrase = 'correct horse battery staple'
const { signal } = new AbortController()

describe('a scheduled backup', () => {
  const installation = useInstallation()

  /** Runs the job with these settings. */
  async function run(changes: Parameters<typeof updateBackupSettings>[1], time = new Date()) {
    const { data, database } = installation
    const secrets = loadSecrets(data)
    await database.database.system('test', tx =>
      updateBackupSettings(tx, { backup_passphrase: passphrase, ...changes }, secrets),
    )
    const folder = createTemporaryFolder()
    const write: WriteArchive = async used => {
      const path = join(folder, 'archive')
      await backUp(database.target, data, path, used)
      return { path, discard: async () => {} }
    }
    const options = { data, secrets, egress: backupEgress, write, now: () => time }
    return runScheduledBackup({ database: database.database, signal }, options)
  }

  async function restoreFrom(archivePath: string) {
    const database = await createTestDatabase({ empty: true })
    const data = createTemporaryFolder()
    try {
      await restore({
        ...{ data, archivePath, passphrase, force: false },
        openDatabase: async () => database.target,
      })
      return await database.database.system('test', tx => readBackupSettings(tx, loadSecrets(data)))
    } finally {
      await database.remove()
    }
  }

  it('in a bucket is restored with all settings', async () => {
    const server = await startS3Server()
    const settings = {
      backup_target: 's3',
      backup_s3_endpoint: server.endpoint,
      backup_s3_bucket: S3_BUCKET,
      backup_s3_prefix: 'roof/',
      backup_s3_access_key: S3_KEY.accessKeyId,
      backup_s3_secret_key: S3_KEY.secretAccessKey,
    } as const
    expect(await run(settings)).toMatch(
      /^stored eyrie-\d{8}T\d{6}Z\.backup with .* MB; 1 backup is stored, 0 old ones were deleted$/,
    )
    const [key = ''] = server.listKeys()
    expect(key).toMatch(/^roof\/eyrie-/)
    expect(await restoreFrom(server.toPath(key))).toMatchObject({
      ...settings,
      backup_passphrase: passphrase,
    })
  })

  it('in a folder is restored, and replaces the oldest one', async () => {
    const folder = createTemporaryFolder()
    const settings = { backup_target: 'folder', backup_folder: folder, backup_keep: 2 } as const
    for (const hour of [1, 2, 3]) await run(settings, new Date(`2026-03-04T0${hour}:00:00Z`))
    expect(readdirSync(folder).sort()).toEqual([
      'eyrie-20260304T020000Z.backup',
      'eyrie-20260304T030000Z.backup',
    ])
    const restored = await restoreFrom(join(folder, 'eyrie-20260304T030000Z.backup'))
    expect(restored.backup_folder).toBe(folder)
  })

  it('is skipped without a target, and fails before any work if the target cannot be used', async () => {
    await expect(run({ backup_target: 'off' })).rejects.toMatchObject({
      name: 'JobSkippedError',
      message: 'no target is configured: set backup_target with /config/backup/update',
    })
    const backupFolder = join(createTemporaryFolder(), 'missing')
    await expect(run({ backup_target: 'folder', backup_folder: backupFolder })).rejects.toThrow(
      'create it',
    )
    expect(existsSync(toUnfinishedFolder(installation.data))).toBe(false)
  })
})

describe('the settings of backups', () => {
  const management = sharedManagement()
  const { getBackup, updateBackup } = managementRoutes.config
  const s3 = {
    backup_target: 's3',
    backup_s3_endpoint: 'https://s3.example.com',
    backup_s3_bucket: S3_BUCKET,
    backup_s3_access_key: 'AKIA1',
    backup_s3_secret_key: 'very secret',
    backup_passphrase: passphrase,
  } as const

  it('hide the secrets, which are stored encrypted and kept when they are sent back', async () => {
    expect((await management.call(updateBackup, s3)).status).toBe(200)
    const { response } = await management.call(getBackup)
    expect(response).toMatchObject({ ...s3, backup_s3_secret_key: '***', backup_passphrase: '***' })
    expect((await management.call(updateBackup, { ...response, backup_keep: 3 })).status).toBe(200)
    const stored = await management.database.system('test', tx =>
      readBackupSettings(tx, loadSecrets(management.data)),
    )
    expect(stored).toMatchObject({ ...s3, backup_keep: 3 })
    const rows = await management.database.system('test', tx => tx.select().from(setting))
    const { response: entries } = await management.call(managementRoutes.audit.list, {
      record: 'setting',
    })
    for (const secret of ['very secret', passphrase]) {
      expect(JSON.stringify([rows, entries])).not.toContain(secret)
    }
  })

  it.each([
    [
      { backup_s3_endpoint: 'https://attacker.test' },
      'backup_s3_secret_key: must be sent again, because the endpoint changes',
    ],
    [
      { backup_s3_endpoint: 'https://s3.example.com/path' },
      'backup_s3_endpoint: must be an address such as https://s3.example.com',
    ],
    [{ backup_s3_bucket: '' }, 'backup_s3_bucket: is required for the target s3'],
    [{ backup_s3_bucket: '../x' }, 'backup_s3_bucket: must be the name of a bucket'],
    [{ backup_s3_prefix: 'a b' }, 'backup_s3_prefix: must be a prefix such as eyrie/site-1/'],
    [{ backup_target: 'folder' }, 'backup_folder: is required for the target folder'],
    [{ backup_folder: 'relative' }, 'backup_folder: must be an absolute path such as /mnt/backups'],
    [{ backup_passphrase: 'short' }, 'backup_passphrase: must have at least 12 characters'],
  ])('reject %o', async (changes, reason) => {
    await management.call(updateBackup, s3)
    const answer = await management.send(updateBackup, changes)
    expect([answer.status, answer.message]).toEqual([400, reason])
  })
})
