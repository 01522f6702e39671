import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase, type Database } from '../../services/management/db/database.ts'
import { type DeviceCounts, insertManyDevices } from '../fixtures/management/many-devices.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'

const email = 'owner@eyrie.test'
const password = 'correct horse battery staple'

/**
 * Management in a process of its own on an embedded Postgres, filled with
 * organizations, sites and devices.
 */
export interface PopulatedManagement {
  service: ServiceProcess
  api: string
  /** Access token of the first administrator. */
  token: string
  database: Database
  /** Socket of Postgres. */
  socket: string
  stop(): Promise<void>
}

export async function startPopulatedManagement(
  amounts: DeviceCounts,
): Promise<PopulatedManagement> {
  const data = mkdtempSync(join(tmpdir(), 'eyrie-bench-management-'))
  const service = await startService('management', {
    EYRIE_DATA: data,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ADMIN_EMAIL: email,
    EYRIE_ADMIN_PASSWORD: password,
    EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
  })
  let database: Database | undefined
  const stop = async () => {
    await database?.close()
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  }
  try {
    const api = `${service.url}/api/v1`
    const token = await signIn(api)
    const socket = join(data, 'postgres/data/.s.PGSQL.5432')
    database = await createDatabase({
      path: socket,
      user: APPLICATION_NAME,
      database: APPLICATION_NAME,
    })
    await insertManyDevices(database, amounts)
    return { service, api, token, database, socket, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Retries while the database is still starting. */
async function signIn(api: string): Promise<string> {
  for (;;) {
    const answer = await fetch(`${api}/user/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    if (answer.ok) {
      const { response } = (await answer.json()) as { response: { access_token: string } }
      return response.access_token
    }
    if (answer.status !== 503 && answer.status !== 404) throw new Error(await answer.text())
    await wait(200)
  }
}
