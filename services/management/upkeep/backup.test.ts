// @module-tag long

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test/fixtures/management/test-database.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { connect } from '../db/connection.ts'
import { MIGRATIONS_FOLDER, readSchemaVersion } from '../db/migrate.ts'
import { audit, setting, site } from '../db/schema/index.ts'
import { withTransaction } from '../db/transaction.ts'
import { backUp } from './backup.ts'
import { check } from './check.ts'
import { createDecryption, readEncryptionHeader } from './encryption.ts'
import { useInstallation } from './installation.fixture.ts'
import { restore } from './restore.ts'
import { listTables } from './tables.ts'

const installation = useInstallation()
const passphrase = 'correct horse battery staple'

/** Decrypts a backup in place, so that it looks like one of an earlier release. */
async function removeEncryption(path: string): Promise<void> {
  const header = await readEncryptionHeader(path)
  const [encrypted, decryptor] = await createDecryption(path, header!, passphrase)
  writeFileSync(path, await buffer(encrypted.pipe(decryptor)))
}

/** Replaces text in an unencrypted archive by text of the same length. */
function alterTar(archive: Buffer, text: string, replacement: string): Buffer {
  const tar = gunzipSync(archive)
  tar.write(replacement, tar.indexOf(text))
  return gzipSync(tar)
}

/**
 * Returns all rows, but for the time of the newest backup, which is stored when the backup is
 * complete.
 */
async function contents({ target }: Pick<TestDatabase, 'target'>) {
  const plain = connect(target)
  try {
    return await withTransaction(plain, async () => {
      await plain`select set_config('eyrie.scope', 'all', true)`
      const rows: Record<string, unknown[]> = {}
      for (const { name } of await listTables(plain)) {
        rows[name] = (
          await plain.unsafe(`select row_to_json(t)::text as row from "${name}" t order by 1`)
        )
          .map(({ row }) => row)
          .filter((row: string) => !row.includes('newest_backup'))
      }
      return rows
    })
  } finally {
    await plain.end()
  }
}

async function emptyDatabase() {
  const empty = await createTestDatabase({ empty: true })
  onTestFinished(() => empty.remove())
  return empty
}

describe('backup and restore', () => {
  const writeBackup = async (path = join(createTemporaryFolder(), 'eyrie.backup')) => {
    const manifest = await backUp(installation.database.target, installation.data, path, passphrase)
    return { path, manifest }
  }

  it('reproduce database and files exactly in an empty installation', async () => {
    const { path, manifest } = await writeBackup()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(manifest.tables.find(({ name }) => name === 'event')).toMatchObject({
      rows: 20_000,
      parts: 2,
    })
    const before = await contents(installation.database)
    const other = await emptyDatabase()
    const folder = createTemporaryFolder()
    await restore({
      openDatabase: async () => other.target,
      data: folder,
      archivePath: path,
      passphrase,
      force: false,
    })

    expect(await contents(other)).toEqual(before)
    for (const file of [
      'engine/configuration.json',
      'models/eye/model.onnx',
      'models/eye/empty.txt',
    ]) {
      expect(
        readFileSync(join(folder, file)).equals(readFileSync(join(installation.data, file))),
      ).toBe(true)
    }
    expect(statSync(join(folder, 'secrets/management-key')).mode & 0o777).toBe(0o600)
    expect(() => statSync(join(folder, 'recordings'))).toThrow('ENOENT')
    expect(() => statSync(join(folder, 'restore.new'))).toThrow('ENOENT')

    const findings = await check(other.target, folder)
    expect(findings.map(({ says }) => says)).toEqual(['there is an active superadmin'])
    await other.database.system('afterwards', tx => tx.update(site).set({ site_name: 'Door' }))
    const written = await other.database.system('test', tx =>
      tx.select().from(audit).where(sql`operation = 'afterwards'`),
    )
    expect(written).toHaveLength(1)
  })

  it('capture the database at one moment while it is being written', async () => {
    const before = await contents(installation.database)
    let done = false
    const writing = (async () => {
      for (let n = 0; !done; n += 1) {
        await installation.database.database.system('test', async tx => {
          await tx.insert(setting).values({ name: `both ${n}`, value: 1 })
          await tx.execute(sql`update site set site_name = ${`name ${n}`}`)
        })
      }
    })()
    const { path } = await writeBackup().finally(() => {
      done = true
    })
    await writing
    const other = await emptyDatabase()
    await restore({
      openDatabase: async () => other.target,
      data: createTemporaryFolder(),
      archivePath: path,
      passphrase,
      force: false,
    })
    const after = await contents(other)
    const [gate] = after.site as string[]
    const settings = after.setting!.length - before.setting!.length
    expect(gate).toContain(
      settings === 0 ? '"site_name":"Gate"' : `"site_name":"name ${settings - 1}"`,
    )
  })

  it('replace existing contents only with --force', async () => {
    const { path } = await writeBackup()
    const other = await emptyDatabase()
    const folder = createTemporaryFolder()
    const options = {
      openDatabase: async () => other.target,
      data: folder,
      archivePath: path,
      passphrase,
      force: false,
    }
    await restore(options)
    await other.database.system('test', tx => tx.update(site).set({ site_name: 'Mine' }))
    await expect(restore(options)).rejects.toThrow(
      /this installation is not empty \(secrets, .*\): --force replaces/,
    )
    await expect(restore({ ...options, data: createTemporaryFolder() })).rejects.toThrow(
      /not empty \(a database\)/,
    )
    const [mine] = await other.database.system('test', tx => tx.select().from(site))
    expect(mine!.site_name).toBe('Mine')
    writeFileSync(join(folder, 'eyrie.json'), '{}')
    await restore({ ...options, force: true })
    expect(await contents(other)).toEqual(await contents(installation.database))
    expect(() => statSync(join(folder, 'eyrie.json'))).toThrow('ENOENT')
  })

  /** A backup that several tests damage or inspect: to derive the key of each would be slow. */
  let kept: { encrypted: Buffer; plain: Buffer; managementKey: Buffer } | undefined
  async function keepBackup() {
    const { path } = await writeBackup()
    const encrypted = readFileSync(path)
    await removeEncryption(path)
    const managementKey = readFileSync(join(installation.data, 'secrets/management-key'))
    return { encrypted, plain: readFileSync(path), managementKey }
  }

  it.each<[string, (bytes: Buffer) => Buffer, 'encrypted' | 'plain', RegExp]>([
    ['is truncated', bytes => bytes.subarray(0, bytes.length - 20_000), 'plain', /truncated/],
    ['is another file', () => Buffer.from('hello'), 'plain', /not a gzip archive/],
    [
      'was altered',
      bytes => alterTar(bytes, '"sources":[]', '"sources":{}'),
      'plain',
      /the checksum of files\/engine\/configuration\.json does not match/,
    ],
    [
      'names a table in its manifest that is SQL',
      bytes => alterTar(bytes, '"name": "site"', '"name": "s;te"'),
      'plain',
      /name/,
    ],
    [
      'is encrypted and was truncated',
      bytes => bytes.subarray(0, bytes.length - 20_000),
      'encrypted',
      /altered/,
    ],
    [
      'is encrypted and was altered near its end',
      bytes => {
        bytes[bytes.length - 20]! ^= 1
        return bytes
      },
      'encrypted',
      /altered/,
    ],
  ])('change nothing when the archive %s', async (_, damage, kind, reason) => {
    kept ??= await keepBackup()
    const path = join(createTemporaryFolder(), 'eyrie.backup')
    writeFileSync(path, damage(Buffer.from(kept[kind])))
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'kept'), '')
    const openDatabase = vi.fn(async () => installation.database.target)
    const restored = restore({
      openDatabase,
      data: folder,
      archivePath: path,
      passphrase: kind === 'plain' ? undefined : passphrase,
      force: true,
    })
    await expect(restored).rejects.toThrow('is not a backup that can be restored')
    await expect(restored).rejects.toThrow(reason)
    expect(openDatabase).not.toHaveBeenCalled()
    expect(() => statSync(join(folder, 'secrets'))).toThrow('ENOENT')
  })

  it('reveal nothing without the passphrase', async () => {
    kept ??= await keepBackup()
    const path = join(createTemporaryFolder(), 'eyrie.backup')
    writeFileSync(path, kept.encrypted)
    expect(() => gunzipSync(kept!.encrypted)).toThrow('incorrect header check')
    expect(kept.encrypted.includes(kept.managementKey)).toBe(false)

    const folder = createTemporaryFolder()
    const openDatabase = vi.fn(async () => installation.database.target)
    const restoreWith = (other: string | undefined) =>
      restore({ openDatabase, data: folder, archivePath: path, passphrase: other, force: true })
    await expect(restoreWith('another passphrase')).rejects.toThrow(
      'the passphrase is wrong, or it was altered',
    )
    await expect(restoreWith(undefined)).rejects.toThrow(
      'it is encrypted, and its passphrase is missing',
    )
    expect(openDatabase).not.toHaveBeenCalled()
    expect(readdirSync(folder)).toEqual([])
  })

  it('accept an unencrypted backup of an earlier release only without a passphrase', async () => {
    const { path } = await writeBackup()
    await removeEncryption(path)
    const other = await emptyDatabase()
    const options = {
      openDatabase: async () => other.target,
      data: createTemporaryFolder(),
      archivePath: path,
      force: false,
    }
    await expect(restore({ ...options, passphrase })).rejects.toThrow(
      'it is not encrypted, although there is',
    )
    await restore({ ...options, passphrase: undefined })
    expect(await contents(other)).toEqual(await contents(installation.database))
  })

  it('leave files in place that backups of the earlier release did not contain', async () => {
    const { path, manifest } = await writeBackup()
    await removeEncryption(path)
    const { paths } = manifest
    const list = `${JSON.stringify({ paths }, null, 2).slice(1, -1).trim()},`
    writeFileSync(path, alterTar(readFileSync(path), list, ' '.repeat(list.length)))

    const data = createTemporaryFolder()
    mkdirSync(join(data, 'engine'))
    writeFileSync(join(data, 'engine/identity'), 'secret')
    writeFileSync(join(data, 'quickstart.json'), '{}')
    const openDatabase = async () => (await emptyDatabase()).target
    const options = { openDatabase, data, force: true }
    await restore({ ...options, archivePath: path, passphrase: undefined })
    expect(readdirSync(data)).not.toContain('quickstart.json')
    expect(readFileSync(join(data, 'engine/identity'), 'utf8')).toBe('secret')

    const { path: current } = await writeBackup()
    await restore({ ...options, archivePath: current, passphrase })
    expect(readdirSync(join(data, 'engine'))).not.toContain('identity')
  })

  it('migrate a backup of an earlier release, and reject one of a later release', async () => {
    const { path } = await writeBackup()
    const migrations = join(createTemporaryFolder(), 'migrations')
    cpSync(MIGRATIONS_FOLDER, migrations, { recursive: true })
    const file = join(migrations, 'meta/_journal.json')
    const journal = JSON.parse(readFileSync(file, 'utf8'))
    const next = {
      idx: 99,
      version: '7',
      when: readSchemaVersion() + 1,
      tag: '0099_next',
      breakpoints: true,
    }
    writeFileSync(file, JSON.stringify({ ...journal, entries: [...journal.entries, next] }))
    writeFileSync(
      join(migrations, '0099_next.sql'),
      `alter table site add column storey integer;--> statement-breakpoint\nupdate site set storey = 3;`,
    )
    const other = await emptyDatabase()
    await restore({
      openDatabase: async () => other.target,
      data: createTemporaryFolder(),
      archivePath: path,
      passphrase,
      force: false,
      migrations,
    })
    expect((await contents(other)).site).toEqual([expect.stringContaining('"storey":3')])

    const later = join(createTemporaryFolder(), 'later.tar.gz')
    await backUp(other.target, installation.data, later, passphrase)
    const third = await emptyDatabase()
    await expect(
      restore({
        openDatabase: async () => third.target,
        data: createTemporaryFolder(),
        archivePath: later,
        passphrase,
        force: false,
      }),
    ).rejects.toThrow(/was created by a newer release/)
  })

  it('leave no partial file behind when the path is not writable', async () => {
    rmSync(join(installation.data, 'engine'), { recursive: true })
    const path = join(createTemporaryFolder(), 'missing/eyrie.tar.gz')
    await expect(writeBackup(path)).rejects.toThrow(
      /^the folder .*missing does not exist: create it/,
    )
    const folder = createTemporaryFolder()
    await expect(writeBackup(folder)).rejects.toThrow(`${folder} is a folder`)
    expect(existsSync(`${folder}.part`)).toBe(false)
  })

  it('report a full disk and delete the partial archive', async () => {
    // /dev/full simulates a full disk.
    const folder = createTemporaryFolder()
    symlinkSync('/dev/full', join(folder, 'eyrie.tar.gz.part'))
    await expect(writeBackup(join(folder, 'eyrie.tar.gz'))).rejects.toThrow(
      /^the disk is full at .*eyrie\.tar\.gz; nothing/,
    )
    expect(readdirSync(folder)).toEqual([])
  })

  it('name an archive that is missing or is a folder', async () => {
    const folder = createTemporaryFolder()
    const restoring = (path: string) =>
      restore({
        openDatabase: async () => installation.database.target,
        data: createTemporaryFolder(),
        archivePath: path,
        passphrase,
        force: true,
      })
    await expect(restoring(join(folder, 'none'))).rejects.toThrow(`${folder}/none does not exist`)
    await expect(restoring(folder)).rejects.toThrow(`${folder} is a folder: name a file`)
  })
})
