// @module-tag long

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { startService } from '../../../test/fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const environment = { PATH: process.env.PATH }

async function startManagement(data: string) {
  const management = await startService('management', {
    EYRIE_DATA: data,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ADMIN_EMAIL: 'owner@eyrie.test',
    EYRIE_ADMIN_PASSWORD: 'correct horse battery staple',
  })
  onTestFinished(() => management.stop())
  return management
}

const signIn = (url: string) =>
  fetch(`${url}/api/v1/user/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@eyrie.test', password: 'correct horse battery staple' }),
  })

const waitUntilSignInWorks = (url: string) =>
  vi.waitUntil(async () => (await signIn(url)).ok, { timeout: 100_000, interval: 100 })

describe('eyrie check', () => {
  it('reports services that are not within all of their boundaries, with the remedy', async () => {
    const data = createTemporaryFolder()
    const management = await startManagement(data)
    await waitUntilSignInWorks(management.url)
    // Without the supervisor, nothing limits what media can use.
    const media = await startMediaProcess()
    onTestFinished(media.stop)
    const urls = { EYRIE_ENGINE_URL: 'http://127.0.0.1:9', EYRIE_MEDIA_URL: media.url }
    const checked = await runEyrieCommand(['check'], {
      data,
      environment: { ...environment, ...urls },
    })
    expect(checked).toMatchObject({ code: 0, err: '' })
    expect(checked.out).toMatch(
      /^degraded: the isolation of media is none\n {2}.*start it with the supervisor.*\nno problems found\n$/,
    )
  }, 300_000)
})

describe('eyrie backup and restore', () => {
  it('backs up a running appliance, and restores into an empty data folder only', async () => {
    const data = createTemporaryFolder()
    const emptyData = createTemporaryFolder()
    const file = join(createTemporaryFolder(), 'eyrie.backup')
    const passphraseFile = join(createTemporaryFolder(), 'passphrase')
    writeFileSync(passphraseFile, 'correct horse battery staple\n')
    const options = ['--passphrase-file', passphraseFile]
    const management = await startManagement(data)
    await waitUntilSignInWorks(management.url)

    const backup = await runEyrieCommand(['backup', file, ...options], { data, environment })
    expect(backup.err).toBe('')
    expect(backup.out).toMatch(/^wrote .*: \d+ records and \d+ files\n$/)
    const noServices = {
      EYRIE_ENGINE_URL: 'http://127.0.0.1:9',
      EYRIE_MEDIA_URL: 'http://127.0.0.1:9',
    }
    const checking = { data, environment: { ...environment, ...noServices } }
    expect(await runEyrieCommand(['check'], checking)).toEqual({
      code: 0,
      out: 'no problems found\n',
      err: '',
    })

    const running = await runEyrieCommand(['restore', file, '--force', ...options], {
      data,
      environment,
    })
    expect(running).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in use by another process'),
    })
    await management.stop()
    const filled = await runEyrieCommand(['restore', file, ...options], { data, environment })
    expect(filled).toMatchObject({
      code: 1,
      err: expect.stringContaining('--force replaces its contents'),
    })

    const input = Readable.from(['correct horse battery staple'])
    const restored = await runEyrieCommand(['restore', file, '--passphrase-file', '-'], {
      data: emptyData,
      environment,
      input,
    })
    expect(restored).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^restored \d+ records/),
    })
    const key = (folder: string) => readFileSync(join(folder, 'secrets/management-key'), 'utf8')
    expect(key(emptyData)).toBe(key(data))
    const restoredManagement = await startManagement(emptyData)
    await waitUntilSignInWorks(restoredManagement.url)
  }, 300_000)

  it('warns about a backup that is not encrypted', async () => {
    const data = createTemporaryFolder()
    const file = join(data, 'eyrie.tar.gz')
    writeFileSync(file, 'hello')
    const { code, err } = await runEyrieCommand(['restore', file], { data, environment })
    expect(code).toBe(1)
    expect(err).toMatch(
      /^warning: .*eyrie\.tar\.gz is not encrypted, so nothing proves who wrote it/,
    )
  }, 180_000)

  it('reports a failure in one line', async () => {
    const data = createTemporaryFolder()
    const passphraseFile = join(data, 'passphrase')
    writeFileSync(passphraseFile, 'correct horse battery staple')
    const args = ['backup', join(data, 'eyrie.backup'), '--passphrase-file', passphraseFile]
    const none = await runEyrieCommand(args, { data, environment })
    expect(none).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^eyrie: there is no database in .*\n$/),
    })
    expect(existsSync(join(data, 'eyrie.backup'))).toBe(false)
    writeFileSync(join(data, 'text'), 'hello')
    expect(await runEyrieCommand(['backup'], { data, environment })).toMatchObject({ code: 2 })
  }, 180_000)
})
