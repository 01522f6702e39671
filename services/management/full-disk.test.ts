// @module-tag long

import { join } from 'node:path'
import type { HealthReport } from '@eyrie/contract/health'
import { expect, it, onTestFinished, vi } from 'vitest'
import { organizationInput } from '../../test/fixtures/management/hierarchy.ts'
import { type ServiceProcess, startService } from '../../test/fixtures/processes/service-process.ts'
import { createSmallDisk, type SmallDisk } from '../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { connect } from './db/connection.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct horse battery staple' }
const WAIT = { timeout: 60_000 }

interface ManagementOnDisk {
  service: ServiceProcess
  disk: SmallDisk
  readAlarms(): Promise<string[]>
  /** Creates a record that does not fit on a full disk. */
  create(): Promise<{ status: number; message: string }>
}

async function startManagement(): Promise<ManagementOnDisk> {
  const disk = createSmallDisk('256m')
  onTestFinished(disk.remove)
  const environment = {
    EYRIE_DATA: disk.folder,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
  }
  const service = await startService('management', environment, disk.launcher)
  onTestFinished(() => service.stop())

  const post = async (path: string, body: unknown, token = '') => {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    }
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return {
      status: response.status,
      ...((await response.json()) as { message: string; response: unknown }),
    }
  }
  const signedIn = await vi.waitFor(async () => {
    const answer = await post('/user/auth', administrator)
    expect(answer.status).toBe(200)
    return answer.response as { access_token: string }
  }, WAIT)

  let created = 0
  return {
    service,
    disk,
    async readAlarms() {
      const response = await fetch(`${service.url}/health`)
      expect(response.status).toBe(200)
      const { alarms = [] } = (await response.json()) as HealthReport
      // There is no engine.
      return alarms.filter(alarm => !alarm.startsWith('engine'))
    },
    create() {
      created += 1
      // Random text cannot be compressed.
      const organizationDescription = Array.from({ length: 100 }, () => crypto.randomUUID()).join(
        '',
      )
      const input = {
        ...organizationInput(`organization ${created}`),
        organization_description: organizationDescription,
      }
      return post('/organization/create', input, signedIn.access_token)
    },
  }
}

/** Creates records until one is answered like this. */
const createUntil = ({ create }: ManagementOnDisk, answer: { status: number; message?: string }) =>
  vi.waitFor(async () => expect(await create()).toMatchObject(answer), WAIT)

const IS_FULL = {
  status: 503,
  message: 'the disk of the database is full and nothing was changed: free some space',
}
const IS_STORED = { status: 200 }
const CANNOT_STORE =
  'the database cannot store anything: the disk is full: delete files that are not needed, or enlarge the disk'

/** Messages are constant, and statements are not logged. */
function expectPlainLog({ lines }: ServiceProcess): void {
  const log = lines.join('\n')
  expect(log).not.toMatch(/insert into|update "|select "/i)
  expect(lines.map(line => JSON.parse(line).msg)).toContain('database is unavailable')
}

it('management whose disk is full answers 503 with the reason, raises an alarm, and stores again with free space', {
  ...needs(mountRequirement),
  timeout: 120_000,
}, async () => {
  const management = await startManagement()
  const { service, disk, readAlarms } = management
  expect(await readAlarms()).toEqual([])

  disk.fill(service.pid)
  await createUntil(management, IS_FULL)
  expect(await readAlarms()).toContain(CANNOT_STORE)
  // Also an appliance that stores nothing at the moment reports a full disk.
  await vi.waitFor(async () =>
    expect(await readAlarms()).toContainEqual(
      expect.stringMatching(
        /^nothing can be stored, because there is no space left on the disk of /,
      ),
    ),
  )

  disk.free(service.pid)
  await createUntil(management, IS_STORED)
  await vi.waitFor(async () => expect(await readAlarms()).toEqual([]))
  expectPlainLog(service)
})

it('management names the full disk that has stopped its database server, which starts again with free space', {
  ...needs(mountRequirement),
  timeout: 120_000,
}, async () => {
  const management = await startManagement()
  const { service, disk, readAlarms } = management
  const path = join(disk.view(service.pid), 'postgres/data/.s.PGSQL.5432')
  const server = connect({ path, user: 'postgres', database: 'postgres' })

  disk.fill(service.pid)
  // Without space for another file of its write-ahead log, Postgres crashes.
  await expect(
    (async () => {
      while (true) {
        await server`select pg_logical_emit_message(false, 'test', 'test')`
        await server`select pg_switch_wal()`
      }
    })(),
  ).rejects.toThrow()
  await vi.waitFor(async () => expect(await readAlarms()).toContain(CANNOT_STORE))
  await createUntil(management, IS_FULL)

  disk.free(service.pid)
  await createUntil(management, IS_STORED)
  await vi.waitFor(async () => expect(await readAlarms()).toEqual([]))
  expectPlainLog(service)
})
