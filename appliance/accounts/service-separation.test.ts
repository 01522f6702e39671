import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findAccount } from '@eyrie/kit/accounts/account'
import { describe, expect, it } from 'vitest'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { root } from '../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { chooseDatabaseAccount, findDatabasePrivileges } from './database-account.ts'
import { findCapabilities } from './separate-services.ts'
import { describeSeparation } from './service-separation.ts'

const account = findAccount('nobody')!

describe('capabilities of a service', needs(root), () => {
  const folder = (mode: number) => {
    const path = createTemporaryFolder()
    chmodSync(path, mode)
    return path
  }
  const find = (role: 'media' | 'engine', port: number, ...mediaRoots: string[]) =>
    findCapabilities({ account }, role, { port, mediaRoots })

  it('are none if its port and all folders with videos are open to it', async () => {
    expect(await find('media', 8200, folder(0o755), '/nowhere')).toEqual([])
    expect(await find('engine', 8100, folder(0o700))).toEqual([])
  })

  it('let media read videos in folders that are closed to it, and a service listen on a low port', async () => {
    expect(await find('media', 8200, folder(0o755), folder(0o700))).toEqual(['dac_read_search'])
    expect(await find('engine', 443)).toEqual(['net_bind_service'])
  })
})

describe('database server', needs(root), () => {
  it('may read all files only if its folders are closed to it', async () => {
    const data = createTemporaryFolder()
    expect(await findDatabasePrivileges(account, [data])).toEqual({
      account,
      capabilities: ['dac_read_search'],
    })
    chmodSync(data, 0o711)
    expect(await findDatabasePrivileges(account, [data])).toEqual({ account })
  })

  it('runs as an unprivileged user without users for the services, and not at all for an ordinary user', () => {
    const data = createTemporaryFolder()
    mkdirSync(join(data, 'postgres/data'), { recursive: true })
    const separation = { kind: 'without-capabilities', reason: 'users are missing' } as const
    expect(chooseDatabaseAccount(separation, data)?.uid).toBeGreaterThan(0)
    expect(chooseDatabaseAccount({ kind: 'ordinary-user', user: 'viewer' }, data)).toBeUndefined()
  })
})

describe('description of the separation', () => {
  it('names what is missing, and the reason', () => {
    const reason = 'users are missing'
    expect(describeSeparation({ kind: 'root', reason })).toEqual({
      level: 'none',
      missing: [`services run as root, with all its rights, because ${reason}`],
    })
    expect(describeSeparation({ kind: 'without-capabilities', reason }).level).toBe('partial')
    expect(describeSeparation({ kind: 'ordinary-user', user: 'viewer' }).missing[0]).toMatch(
      /viewer.*as root/,
    )
  })
})
