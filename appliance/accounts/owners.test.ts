import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { root } from '../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { type DataOwners, listOwnedFolders } from './data-ownership.ts'
import { applyOwners, shareFile } from './owners.ts'

const GROUP = 61_000
const owners: DataOwners = {
  shared: { uid: 0, gid: GROUP },
  roles: {
    media: { uid: 61_001, gid: GROUP },
    engine: { uid: 61_002, gid: GROUP },
    management: { uid: 61_003, gid: GROUP },
    database: { uid: 61_004, gid: GROUP },
    scheduler: { uid: 61_005, gid: GROUP },
  },
}
/** Root runs all services; the database server has a user of its own. */
const rootOwners: DataOwners = {
  shared: { uid: 0, gid: 0 },
  roles: {
    media: { uid: 0, gid: 0 },
    engine: { uid: 0, gid: 0 },
    management: { uid: 0, gid: 0 },
    scheduler: { uid: 0, gid: 0 },
    database: owners.roles.database,
  },
}

/** A data folder of a release whose services all ran as root. */
function createOldDataFolder(): string {
  const data = createTemporaryFolder()
  for (const folder of [
    'secrets',
    'engine/output',
    'recordings/1',
    'postgres/data/base',
    'management/images',
  ]) {
    mkdirSync(join(data, folder), { recursive: true })
  }
  for (const name of ['engine-token', 'engine-key', 'management-key', 'signing-key.pem', 'admin']) {
    writeFileSync(join(data, 'secrets', name), 'secret', { mode: 0o600 })
  }
  for (const file of [
    'engine/output/log',
    'recordings/1/a.mp4',
    'postgres/data/base/1',
    'eyrie.json',
  ]) {
    writeFileSync(join(data, file), '', { mode: 0o600 })
  }
  return data
}

const apply = (data: string, to = owners) => applyOwners(listOwnedFolders(data, to))

/** Owner, group and mode: `61001:61000 700`. */
function describeOwner(path: string): string {
  const { uid, gid, mode } = lstatSync(path)
  return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
}

/** Paths below a folder with owner and mode, sorted. */
const listOwners = (data: string) =>
  execFileSync('find', [data, '-printf', '%P %U:%G %m\n'], { encoding: 'utf8' }).split('\n').sort()

describe('owners of a data folder', needs(root), () => {
  it('are the users of the services, also in a folder of an earlier release that belongs to root', () => {
    const data = createOldDataFolder()
    expect(apply(data)).toEqual([])
    const read = (path: string) => describeOwner(join(data, path))
    expect(read('')).toBe('0:61000 710')
    expect(read('secrets')).toBe('0:61000 1770')
    expect(read('secrets/engine-token')).toBe('0:0 600')
    expect(read('secrets/engine-key')).toBe('61002:61000 600')
    for (const name of ['management-key', 'signing-key.pem', 'admin']) {
      expect(read(`secrets/${name}`)).toBe('61003:61000 600')
    }
    expect(read('engine')).toBe('61002:61000 700')
    expect(read('engine/output/log')).toBe('61002:61000 600')
    expect(read('recordings/1/a.mp4')).toBe('61001:61000 600')
    expect(read('postgres/data/base/1')).toBe('61004:61000 600')
    expect(read('postgres/socket')).toBe('61004:61000 750')
    expect(read('home/media')).toBe('61001:61000 700')
    expect(read('home/scheduler')).toBe('61005:61000 700')
  })

  it('do not change when they are applied again', () => {
    const data = createOldDataFolder()
    apply(data)
    const before = listOwners(data)
    expect(apply(data)).toEqual([])
    expect(listOwners(data)).toEqual(before)
  })

  it('are root again, except for the database, when the services lose their users', () => {
    const data = createOldDataFolder()
    apply(data)
    expect(apply(data, rootOwners)).toEqual([])
    const others = listOwners(data).filter(line => line && !/ 0:0 /.test(line))
    expect(
      others.every(line => line.startsWith('postgres') || line.startsWith('home/database')),
    ).toBe(true)
    expect(describeOwner(data)).toBe('0:0 711')
    expect(describeOwner(join(data, 'secrets'))).toBe('0:0 700')
    expect(describeOwner(join(data, 'postgres/data/base/1'))).toBe('61004:61000 600')
  })

  it('include files that a restore has added later, but not the contents of unchanged folders', () => {
    const data = createOldDataFolder()
    apply(data)
    writeFileSync(join(data, 'engine/configuration.json'), '{}')
    mkdirSync(join(data, 'models/eye'))
    writeFileSync(join(data, 'models/eye/model.onnx'), '')
    apply(data)
    expect(describeOwner(join(data, 'engine/configuration.json'))).toMatch(/^61002:61000 /)
    expect(describeOwner(join(data, 'models/eye/model.onnx'))).toMatch(/^61002:61000 /)
  })

  it('are never given to the target of a link', () => {
    const data = createOldDataFolder()
    const other = createTemporaryFolder()
    writeFileSync(join(other, 'file'), '')
    symlinkSync(join(other, 'file'), join(data, 'recordings/link'))
    symlinkSync(other, join(data, 'recordings/folder'))
    symlinkSync(join(other, 'file'), join(data, 'secrets/operator-token'))
    symlinkSync(other, join(data, 'plugins'))
    expect(apply(data)).toEqual([
      {
        path: join(data, 'plugins'),
        reason: `it is a link: run chown -R 61002:61000 ${data}/plugins/`,
      },
    ])
    expect(listOwners(other).every(line => line === '' || / 0:0 /.test(line))).toBe(true)
  })

  it('are not given to a file with a second name, which may belong to another service', () => {
    const data = createOldDataFolder()
    linkSync(join(data, 'secrets/engine-key'), join(data, 'recordings/1/b.mp4'))
    expect(apply(data).map(({ path }) => path)).toEqual([
      join(data, 'secrets/engine-key'),
      join(data, 'recordings/1/b.mp4'),
    ])
    expect(statSync(join(data, 'recordings/1/b.mp4')).uid).toBe(0)
  })

  it('leave pipes and sockets alone, and do not wait for their writers', () => {
    const data = createOldDataFolder()
    execFileSync('mkfifo', [join(data, 'recordings/pipe')])
    expect(apply(data)).toEqual([])
    expect(statSync(join(data, 'recordings/pipe')).uid).toBe(0)
  })
})

describe('shared file', needs(root), () => {
  it('is readable for the services', () => {
    const file = join(createOldDataFolder(), 'eyrie.json')
    shareFile(file, owners.shared, 0o640)
    expect(describeOwner(file)).toBe('0:61000 640')
  })

  it('is left as it is if it is a link or does not exist', () => {
    const folder = createTemporaryFolder()
    const target = join(folder, 'target')
    writeFileSync(target, '')
    chownSync(target, 61_005, 61_005)
    symlinkSync(target, join(folder, 'link'))
    shareFile(join(folder, 'link'), owners.shared, 0o640)
    expect(statSync(target).uid).toBe(61_005)
    shareFile(join(folder, 'missing'), owners.shared, 0o640)
    expect(existsSync(join(folder, 'missing'))).toBe(false)
  })
})
