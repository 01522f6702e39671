import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { root } from '../../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { findAccount, findAccountById, findGroup } from './account.ts'
import { createSetprivCommand, findClosedPath, type Privileges } from './setpriv.ts'

const account = findAccount('nobody')!
const PORT = 691

function run(privileges: Privileges, ...command: string[]) {
  const [file = '', ...args] = [...createSetprivCommand(privileges), ...command]
  return spawnSync(file, args, { encoding: 'utf8', cwd: '/' })
}

const readStatus = (privileges: Privileges) => run(privileges, 'cat', '/proc/self/status').stdout

describe('accounts', () => {
  it('are found by name and by id', () => {
    expect(findAccount('root')).toEqual({ name: 'root', uid: 0, gid: 0 })
    expect(findAccountById(0)).toEqual({ name: 'root', uid: 0, gid: 0 })
    expect(findAccount('no-such-user')).toBeUndefined()
    expect(findAccountById(61_234)).toEqual({ name: '61234', uid: 61_234, gid: 61_234 })
    expect(findGroup('root')).toBe(0)
    expect(findGroup('no-such-group')).toBeUndefined()
  })
})

describe('a program with limited privileges', needs(root), () => {
  it('runs as the user, with its groups, and without capabilities', () => {
    const status = readStatus({ account })
    expect(status).toMatch(new RegExp(`^Uid:\\t${[0, 0, 0, 0].fill(account.uid).join('\t')}$`, 'm'))
    expect(status).toMatch(new RegExp(`^Groups:\\t${account.gid} $`, 'm'))
    expect(status).toMatch(
      /^CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+\nNoNewPrivs:\t1$/m,
    )
  })

  it('has no capabilities even as root', () => {
    expect(readStatus({})).toMatch(
      /^CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+$/m,
    )
    expect(run({}, 'chown', 'nobody', '/proc/self').status).not.toBe(0)
  })

  it('listens on a port below 1024 with one capability', async () => {
    const script = `
      const { createServer } = await import('node:net')
      createServer().on('error', ({ code }) => console.log(code)).listen(${PORT}, '127.0.0.77', function () {
        console.log('listening')
        this.close()
      })`
    const listen = async (privileges: Privileges) => {
      const [file = '', ...args] = createSetprivCommand(privileges)
      const child = spawn(file, [...args, process.execPath, '-e', script], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
      return output.trim()
    }
    expect(await listen({ account, capabilities: ['net_bind_service'] })).toBe('listening')
    // Some containers allow it to everybody.
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
    expect(await listen({ account })).toBe(PORT < first ? 'EACCES' : 'listening')
  })

  it('finds the paths that are closed to it', async () => {
    const folder = createTemporaryFolder()
    chmodSync(folder, 0o755)
    const [open, closed, file, secret] = ['open', 'closed', 'file', 'secret'].map(name =>
      join(folder, name),
    )
    mkdirSync(open!, { mode: 0o711 })
    mkdirSync(closed!, { mode: 0o700 })
    writeFileSync(file!, '', { mode: 0o644 })
    writeFileSync(secret!, '', { mode: 0o600 })
    expect(await findClosedPath({ account }, 'read', [open!, file!])).toBeUndefined()
    expect(await findClosedPath({ account }, 'read', [open!, closed!, secret!])).toBe(closed)
    expect(await findClosedPath({ account }, 'read', [secret!])).toBe(secret)
    expect(await findClosedPath({ account }, 'write', [open!])).toBe(open)
    const reader: Privileges = { account, capabilities: ['dac_read_search'] }
    expect(await findClosedPath(reader, 'read', [closed!, secret!])).toBeUndefined()
  })

  it('is not started if a user has been deleted, which is reported', async () => {
    const deleted = { name: 'no-such-user', uid: 61_234, gid: 61_234 }
    await expect(findClosedPath({ account: deleted }, 'read', [])).rejects.toThrow(/no-such-user/)
  })
})
