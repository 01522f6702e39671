import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/management-database.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { connect } from '../db/connection.ts'
import { migrationsFolder, schemaVersion } from '../db/migrate.ts'
import { audit, setting, site } from '../db/schema/index.ts'
import { withTransaction } from '../db/transaction.ts'
import { backUp } from './backup.ts'
import { check } from './check.ts'
import { useInstallation } from './installation.fixture.ts'
import { restore } from './restore.ts'
import { listTables } from './tables.ts'

const here = useInstallation()

async function contents({ target }: Pick<TestDatabase, 'target'>) {
  const plain = connect(target)
  try {
    return await withTransaction(plain, async () => {
      await plain`select set_config('eyrie.scope', 'all', true)`
      const rows: Record<string, unknown[]> = {}
      for (const { name } of await listTables(plain))
        rows[name] = (
          await plain.unsafe(`select row_to_json(t)::text as row from "${name}" t order by 1`)
        ).map(({ row }) => row)
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

describe('a backup', () => {
  const write = async (path = join(temporaryFolder(), 'eyrie.tar.gz')) => {
    const manifest = await backUp(here.its.target, here.data, path)
    return { path, manifest }
  }

  test('restored into an empty installation is the same, to the last byte, and works', async () => {
    const { path, manifest } = await write()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(manifest.tables.find(({ name }) => name === 'event')).toMatchObject({ rows: 20_000, parts: 2 })
    const before = await contents(here.its)
    const other = await emptyDatabase()
    const folder = temporaryFolder()
    await restore({ target: async () => other.target, data: folder, path, force: false })

    expect(await contents(other)).toEqual(before)
    for (const file of ['engine/configuration.json', 'models/eye/model.onnx', 'models/eye/empty.txt'])
      expect(readFileSync(join(folder, file)).equals(readFileSync(join(here.data, file)))).toBe(true)
    expect(statSync(join(folder, 'secrets/management-key')).mode & 0o777).toBe(0o600)
    expect(() => statSync(join(folder, 'recordings'))).toThrow('ENOENT')
    expect(() => statSync(join(folder, 'restore.new'))).toThrow('ENOENT')

    const findings = await check(other.target, folder)
    expect(findings.map(({ says }) => says)).toEqual(['there is somebody who may do everything'])
    await other.database.system('afterwards', tx => tx.update(site).set({ site_name: 'Door' }))
    const written = await other.database.system('test', tx =>
      tx.select().from(audit).where(sql`operation = 'afterwards'`),
    )
    expect(written).toHaveLength(1)
  })

  test('is of one moment, whatever is written meanwhile', async () => {
    const before = await contents(here.its)
    let done = false
    const writing = (async () => {
      for (let n = 0; !done; n += 1) {
        await here.its.database.system('test', async tx => {
          await tx.insert(setting).values({ name: `both ${n}`, value: 1 })
          await tx.execute(sql`update site set site_name = ${`name ${n}`}`)
        })
      }
    })()
    const { path } = await write().finally(() => {
      done = true
    })
    await writing
    const other = await emptyDatabase()
    await restore({ target: async () => other.target, data: temporaryFolder(), path, force: false })
    const after = await contents(other)
    const [gate] = after.site as string[]
    const settings = after.setting!.length - before.setting!.length
    expect(gate).toContain(settings === 0 ? '"site_name":"Gate"' : `"site_name":"name ${settings - 1}"`)
  })

  test('is not restored over what is there, unless that is asked for', async () => {
    const { path } = await write()
    const other = await emptyDatabase()
    const folder = temporaryFolder()
    const options = { target: async () => other.target, data: folder, path, force: false }
    await restore(options)
    await other.database.system('test', tx => tx.update(site).set({ site_name: 'Mine' }))
    await expect(restore(options)).rejects.toThrow(
      /this installation is not empty \(secrets, .*\): --force replaces/,
    )
    await expect(restore({ ...options, data: temporaryFolder() })).rejects.toThrow(/not empty \(a database\)/)
    const [mine] = await other.database.system('test', tx => tx.select().from(site))
    expect(mine!.site_name).toBe('Mine')
    writeFileSync(join(folder, 'eyrie.json'), '{}')
    await restore({ ...options, force: true })
    expect(await contents(other)).toEqual(await contents(here.its))
    expect(() => statSync(join(folder, 'eyrie.json'))).toThrow('ENOENT')
  })

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 20_000)],
    ['of something else', () => Buffer.from('hello')],
    [
      'changed',
      (bytes: Buffer) => {
        const plain = gunzipSync(bytes)
        plain.write('"sources":[7]', plain.indexOf('"sources":[]'))
        return gzipSync(plain)
      },
    ],
  ])('that is %s changes nothing', async (_, damage) => {
    const { path } = await write()
    writeFileSync(path, damage(readFileSync(path)))
    const other = await emptyDatabase()
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'kept'), '')
    const options = { target: async () => other.target, data: folder, path, force: true }
    const asked = vi.fn(options.target)
    await expect(restore({ ...options, target: asked })).rejects.toThrow('is no backup that can be restored')
    expect(asked).not.toHaveBeenCalled()
    expect(() => statSync(join(folder, 'secrets'))).toThrow('ENOENT')
  })

  test('of an earlier release is brought to the schema of this one; of a later one it is refused', async () => {
    const { path } = await write()
    const migrations = join(temporaryFolder(), 'migrations')
    cpSync(migrationsFolder, migrations, { recursive: true })
    const file = join(migrations, 'meta/_journal.json')
    const journal = JSON.parse(readFileSync(file, 'utf8'))
    const next = { idx: 99, version: '7', when: schemaVersion() + 1, tag: '0099_next', breakpoints: true }
    writeFileSync(file, JSON.stringify({ ...journal, entries: [...journal.entries, next] }))
    writeFileSync(
      join(migrations, '0099_next.sql'),
      `alter table site add column storey integer;--> statement-breakpoint\nupdate site set storey = 3;`,
    )
    const other = await emptyDatabase()
    await restore({
      target: async () => other.target,
      data: temporaryFolder(),
      path,
      force: false,
      migrations,
    })
    expect((await contents(other)).site).toEqual([expect.stringContaining('"storey":3')])

    const later = join(temporaryFolder(), 'later.tar.gz')
    await backUp(other.target, here.data, later)
    const third = await emptyDatabase()
    await expect(
      restore({ target: async () => third.target, data: temporaryFolder(), path: later, force: false }),
    ).rejects.toThrow(/was made by a newer release/)
  })

  test('that fails leaves no half of a file', async () => {
    rmSync(join(here.data, 'engine'), { recursive: true })
    const path = join(temporaryFolder(), 'missing/eyrie.tar.gz')
    await expect(write(path)).rejects.toThrow(/^there is no folder .*missing: make it/)
    const folder = temporaryFolder()
    await expect(write(folder)).rejects.toThrow(`${folder} is a folder`)
    expect(existsSync(`${folder}.part`)).toBe(false)
  })

  test('on a disk that is full says so, and leaves nothing of it there', async () => {
    // The device that is always full stands in for the disk.
    const folder = temporaryFolder()
    symlinkSync('/dev/full', join(folder, 'eyrie.tar.gz.part'))
    await expect(write(join(folder, 'eyrie.tar.gz'))).rejects.toThrow(
      /^the disk is full at .*eyrie\.tar\.gz; nothing/,
    )
    expect(readdirSync(folder)).toEqual([])
  })

  test('that is not there, or is a folder, is named when it is to be restored', async () => {
    const folder = temporaryFolder()
    const restoring = (path: string) =>
      restore({ target: async () => here.its.target, data: temporaryFolder(), path, force: true })
    await expect(restoring(join(folder, 'none'))).rejects.toThrow(`there is no ${folder}/none`)
    await expect(restoring(folder)).rejects.toThrow(`${folder} is a folder: name a file`)
  })
})
