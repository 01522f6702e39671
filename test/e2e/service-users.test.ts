// @module-tag long

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { health } from '@eyrie/contract'
import { findAccountById } from '@eyrie/kit/accounts/account'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  findServiceAccounts,
  ROLES,
  type ServiceAccounts,
} from '../../appliance/accounts/service-accounts.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import {
  type Appliance,
  type ApplianceOptions,
  startAppliance,
} from '../fixtures/processes/appliance.ts'
import {
  DAC_READ_SEARCH,
  NO_CAPABILITIES,
  readPrivileges,
  readSeparation,
} from '../fixtures/processes/privileges.ts'
import {
  findChildPid,
  findProcesses,
  findServicePid,
  isRunning,
} from '../fixtures/processes/processes.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { root } from '../fixtures/requirements/root.ts'
import { serviceUsers } from '../fixtures/requirements/service-users.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const CHECKOUT = resolve(import.meta.dirname, '../..')
const accounts = findServiceAccounts() as ServiceAccounts
const WAIT = { timeout: 60_000, interval: 100 }

async function start(options: ApplianceOptions): Promise<Appliance> {
  const appliance = await startAppliance(options)
  onTestFinished(appliance.remove)
  await appliance.waitForLine(/ready: open http/)
  await appliance.waitForLine(/database is ready/)
  return appliance
}

const findRolePid = ({ data }: Appliance, role: (typeof ROLES)[number]) =>
  findServicePid(data, role === 'database' ? 'database-server' : role)

/** An unknown user signs in, which takes a query. Returns the status. */
async function signIn(url: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/user/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'unknown@eyrie.test', password: 'correct horse battery staple' }),
  })
  return response.status
}

/** Owner, group and mode of a file: `eyrie-engine:eyrie-services 600`. */
function describeOwner(path: string): string {
  const { uid, mode } = lstatSync(path)
  const group = execFileSync('stat', ['--format=%G', path], { encoding: 'utf8' }).trim()
  return `${findAccountById(uid).name}:${group} ${(mode & 0o7777).toString(8)}`
}

/** Whether a user can read a file, or enter and list a folder. */
function canRead({ uid, gid }: { uid: number; gid: number }, path: string): boolean {
  const script = 'if test -d "$1"; then ls "$1"; else cat "$1"; fi >/dev/null'
  return spawnSync('sh', ['-c', script, 'sh', path], { uid, gid }).status === 0
}

describe('services that root starts', needs(root, serviceUsers), () => {
  it('run as users of their own, cannot read the secrets of each other, and adopt the data folder of a release in which they ran as root', {
    timeout: 600_000,
  }, async () => {
    // A video that only root can reach, which takes a capability.
    const video = join(createTemporaryFolder(), 'clip.mp4')
    makeVideo(video, { frames: 60, fps: 10 })
    const appliance = await start({ source: video, withoutCaches: true })
    const { data, engineUrl, mediaUrl, consoleUrl, schedulerUrl } = appliance
    for (const role of ROLES) {
      const { uid, gid } = accounts[role]
      const capability = role === 'media' ? DAC_READ_SEARCH : NO_CAPABILITIES
      const expected = {
        uid,
        gid,
        isRootGroup: false,
        capabilities: [capability],
        bounds: capability,
        noNewPrivileges: '1',
      }
      expect(readPrivileges(findRolePid(appliance, role)), role).toEqual(expected)
    }
    const server = findChildPid(findRolePid(appliance, 'database'), 'native/bin/postgres')
    expect(readPrivileges(server)).toMatchObject({
      uid: accounts.database.uid,
      capabilities: [NO_CAPABILITIES],
    })
    for (const url of [engineUrl, mediaUrl, consoleUrl, schedulerUrl]) {
      expect(await readSeparation(url)).toEqual({ level: 'full', missing: [] })
    }

    expect(describeOwner(data)).toBe('root:eyrie-services 710')
    expect(describeOwner(join(data, 'secrets'))).toBe('root:eyrie-services 1770')
    const owned = {
      media: 'recordings',
      engine: 'engine',
      management: 'management',
      scheduler: 'home/scheduler',
      database: 'postgres/data',
    }
    const secrets = {
      root: ['engine-token', 'internal-token', 'plugin-token', 'scheduler-token'],
      engine: ['engine-key'],
      management: ['management-key', 'signing-key.pem', 'operator-token', 'admin'],
    }
    for (const role of ROLES) {
      expect(describeOwner(join(data, owned[role])), role).toBe(`eyrie-${role}:eyrie-services 700`)
      for (const [owner, folder] of Object.entries(owned)) {
        expect(canRead(accounts[role], join(data, folder)), `${role} reads ${folder}`).toBe(
          role === owner,
        )
      }
      for (const [owner, names] of Object.entries(secrets)) {
        for (const name of names) {
          expect(
            canRead(accounts[role], join(data, 'secrets', name)),
            `${role} reads ${name}`,
          ).toBe(role === owner)
        }
      }
    }
    for (const role of ['engine', 'management', 'scheduler'] as const) {
      expect(describeOwner(join(data, 'home', role, 'compiled'))).toMatch(`eyrie-${role}:`)
    }
    // What a hostile stream leaves there would be executed at the next start.
    expect(readdirSync(join(data, 'home/media'))).not.toContain('compiled')
    const [, ring = ''] = readFileSync(join(data, 'ring-path'), 'utf8').split('\n')
    expect(describeOwner(ring)).toBe('root:eyrie-services 770')

    process.kill(findRolePid(appliance, 'database'), 'SIGKILL')
    await appliance.waitForLine(/database +! process exited; restarting signal=SIGKILL/)
    await vi.waitUntil(async () => (await signIn(consoleUrl)) === 404, WAIT)
    await appliance.waitForLine(/created the first administrator/)

    const processes = findProcesses(data)
    expect(processes.length).toBeGreaterThan(1 + ROLES.length)
    appliance.process.kill('SIGKILL')
    await vi.waitFor(() => expect(processes.filter(isRunning)).toEqual([]), WAIT)

    execFileSync('chown', ['-R', 'root:root', data])
    execFileSync('chown', ['-R', 'nobody:nogroup', join(data, 'postgres/data')])
    chmodSync(data, 0o750)
    const upgraded = await startAppliance({ environment: { EYRIE_DATA: data } })
    onTestFinished(upgraded.remove)
    await upgraded.waitForLine(/source state changed source=1 state=running/)
    await upgraded.waitForLine(/engine connected/)
    expect(upgraded.lines.join('\n')).not.toMatch(/first administrator|failed to (change|start)/)
    expect(describeOwner(join(data, 'engine/configuration.json'))).toBe(
      'eyrie-engine:eyrie-services 600',
    )
    expect(describeOwner(join(data, 'postgres/data/PG_VERSION'))).toBe(
      'eyrie-database:eyrie-services 600',
    )
  })

  it('need no capabilities for files that everybody can read, and report why the database cannot start', {
    timeout: 300_000,
  }, async () => {
    const data = createTemporaryFolder()
    mkdirSync(join(data, 'postgres/data'), { recursive: true })
    writeFileSync(join(data, 'postgres/data/PG_VERSION'), '17\n')
    const appliance = await startAppliance({
      source: SMALL_PICTURE,
      environment: { EYRIE_DATA: data },
    })
    onTestFinished(appliance.remove)
    await appliance.waitForLine(/failed to start database.* was created by Postgres 17/)
    await appliance.waitForLine(/management +listening/)
    const { alarms } = health.parse(await (await fetch(`${appliance.consoleUrl}/health`)).json())
    expect(readPrivileges(findRolePid(appliance, 'media')).capabilities).toEqual([NO_CAPABILITIES])
    expect(alarms).toEqual([
      expect.stringMatching(/^the database cannot be used: .* created by Postgres 17/),
    ])
  })

  it('run as root without capabilities from a checkout that other users cannot enter, which is reported', {
    timeout: 300_000,
  }, async () => {
    const closed = join(createTemporaryFolder(), 'eyrie')
    mkdirSync(closed)
    const script = 'mount --bind "$1" "$2" && exec "$3" "$2/appliance/main.ts"'
    const launcher = ['unshare', '--mount', 'sh', '-c', script, 'sh', CHECKOUT, closed]
    const appliance = await start({ source: SMALL_PICTURE, launcher })
    const reason = new RegExp(
      `run as root, without its capabilities, because .* cannot read ${closed}`,
    )
    await appliance.waitForLine(reason)
    for (const role of ['media', 'engine', 'management', 'scheduler'] as const) {
      expect(readPrivileges(findRolePid(appliance, role)), role).toMatchObject({
        uid: 0,
        capabilities: [NO_CAPABILITIES],
        bounds: NO_CAPABILITIES,
        noNewPrivileges: '1',
      })
    }
    expect(readPrivileges(findRolePid(appliance, 'database'))).toMatchObject({
      uid: accounts.database.uid,
      capabilities: [DAC_READ_SEARCH],
    })
    expect(await readSeparation(appliance.mediaUrl)).toEqual({
      level: 'partial',
      missing: [expect.stringMatching(reason)],
    })
    expect(await appliance.stop()).toBe(0)
  })
})
