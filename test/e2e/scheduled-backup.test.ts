// @module-tag long

import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  findServiceAccounts,
  type ServiceAccounts,
} from '../../appliance/accounts/service-accounts.ts'
import { unpack } from '../../services/management/upkeep/archive.ts'
import { S3_BUCKET, S3_KEY, startS3Server } from '../fixtures/management/s3-server.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { startService } from '../fixtures/processes/service-process.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { root } from '../fixtures/requirements/root.ts'
import { serviceUsers } from '../fixtures/requirements/service-users.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct horse battery staple' }
const passphrase = 'another horse battery staple'

async function startManagement(data: string) {
  const management = await startService('management', {
    EYRIE_DATA: data,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
  })
  onTestFinished(() => management.stop())
  return { management, call: await signIn(management.url) }
}

/** Signs the administrator in. Returns a function that calls operations. */
async function signIn(url: string) {
  async function call(path: string, method: 'get' | 'post', body?: object, token = '') {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { response } = (await answer.json()) as { response: Record<string, unknown> }
    return { ok: answer.ok, response }
  }
  const { response } = await vi.waitUntil(async () => {
    const answer = await call('/user/auth', 'post', administrator).catch(() => undefined)
    return answer?.ok ? answer : undefined
  })
  const token = String(response.access_token)
  return (path: string, method: 'get' | 'post', body?: object) => call(path, method, body, token)
}

it('a backup that the job has stored in a bucket is downloaded and restored, without any secret in a log or the environment', async () => {
  const data = createTemporaryFolder()
  const storage = await startS3Server()
  const { management, call } = await startManagement(data)
  const { getBackup, updateBackup } = managementRoutes.config
  const settings = {
    backup_target: 's3',
    backup_s3_endpoint: storage.endpoint,
    backup_s3_bucket: S3_BUCKET,
    backup_s3_access_key: S3_KEY.accessKeyId,
    backup_s3_secret_key: S3_KEY.secretAccessKey,
    backup_passphrase: passphrase,
  }
  expect(await call(updateBackup.path, 'post', settings)).toMatchObject({ ok: true })

  const environment = { PATH: process.env.PATH, EYRIE_MANAGEMENT_PORT: String(management.port) }
  const run = await runEyrieCommand(['jobs', 'run', 'backup'], { data, environment })
  expect(run).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^succeeded backup: stored eyrie-/),
  })
  const [key = ''] = storage.listKeys()
  const list = await runEyrieCommand(['jobs'], { data, environment })
  expect(list.out).toMatch(/^JOB +LAST RUN +RESULT +DURATION +NEXT RUN +MESSAGE\n/)
  expect(list.out).toMatch(
    /\nbackup +\d{4}-\d\d-\d\d \d\d:\d\d +succeeded +[\d.]+ s +- +stored eyrie-/,
  )
  const unknown = await runEyrieCommand(['jobs', 'run', 'everything'], { data, environment })
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining('choose one of retention'),
  })
  const stored = await runEyrieCommand(['backup', 'store'], { data, environment })
  expect(stored).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^succeeded backup: stored eyrie-.*; 2 backups are stored/),
  })
  expect(storage.listKeys()).toHaveLength(2)
  expect(await call(updateBackup.path, 'post', { backup_target: 'off' })).toMatchObject({
    ok: true,
  })
  expect(await runEyrieCommand(['backup', 'store'], { data, environment })).toMatchObject({
    code: 1,
    err: expect.stringContaining('no target is configured'),
  })
  expect(await call(updateBackup.path, 'post', { backup_target: 's3' })).toMatchObject({ ok: true })
  const audit = await call(`${managementRoutes.audit.list.path}?record=job`, 'get')
  expect(audit.ok).toBe(true)
  await management.stop()
  expect(management.lines.join('\n')).not.toMatch(new RegExp(`${passphrase}|S3RVER`))

  const file = join(createTemporaryFolder(), 'eyrie.backup')
  copyFileSync(storage.toPath(key), file)
  const passphraseFile = join(createTemporaryFolder(), 'passphrase')
  writeFileSync(passphraseFile, passphrase)
  const restored = createTemporaryFolder()
  const options = ['--passphrase-file', passphraseFile]
  expect(
    await runEyrieCommand(['restore', file, ...options], { data: restored, environment }),
  ).toMatchObject({
    code: 0,
    err: '',
  })
  const secret = (folder: string) => readFileSync(join(folder, 'secrets/management-key'), 'utf8')
  expect(secret(restored)).toBe(secret(data))
  const again = await startManagement(restored)
  expect((await again.call(getBackup.path, 'get')).response).toMatchObject({
    ...settings,
    backup_s3_secret_key: '***',
    backup_passphrase: '***',
  })
}, 600_000)

describe('a scheduled backup of services that root starts', needs(root, serviceUsers), () => {
  it('contains the files of all services, although management cannot read them, once root has permitted it', {
    timeout: 300_000,
  }, async () => {
    const appliance = await startAppliance({
      source: SMALL_PICTURE,
      environment: {
        EYRIE_ADMIN_EMAIL: administrator.email,
        EYRIE_ADMIN_PASSWORD: administrator.password,
      },
    })
    onTestFinished(appliance.remove)
    await appliance.waitForLine(/ready: open http/)
    const { data, consoleUrl } = appliance
    const folder = createTemporaryFolder()
    const target = join(folder, 'backups')
    mkdirSync(target)
    const { uid, gid } = (findServiceAccounts() as ServiceAccounts).management
    for (const path of [folder, target]) chownSync(path, uid, gid)
    const eyrieJson = join(data, 'eyrie.json')
    const call = await signIn(consoleUrl)
    const settings = {
      backup_target: 'folder',
      backup_folder: target,
      backup_passphrase: passphrase,
    }
    expect(await call(managementRoutes.config.updateBackup.path, 'post', settings)).toMatchObject({
      ok: true,
    })

    const environment = { PATH: process.env.PATH, EYRIE_MANAGEMENT_PORT: new URL(consoleUrl).port }
    const runBackup = () => runEyrieCommand(['jobs', 'run', 'backup'], { data, environment })
    expect((await runBackup()).err).toContain('set management.scheduled_backups to true')
    expect(readdirSync(target)).toEqual([])
    writeFileSync(eyrieJson, JSON.stringify({ management: { scheduled_backups: true } }))
    expect(await runBackup()).toMatchObject({ code: 0, err: '' })
    const [name = ''] = readdirSync(target)
    const unpacked = join(createTemporaryFolder(), 'unpacked')
    mkdirSync(unpacked)
    const { entries } = await unpack(join(target, name), unpacked, passphrase)
    const files = ['engine/configuration.json', 'secrets/engine-token', 'secrets/management-key']
    expect(Object.keys(entries)).toEqual(expect.arrayContaining(files.map(file => `files/${file}`)))
    await vi.waitUntil(() => !readdirSync(data).includes('backups'))
    expect(appliance.lines.join('\n')).not.toContain(passphrase)
  })
})
