import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dependencies } from '@eyrie/kit'
import { applicationName, createApplicationDatabase } from '../db/application-database.ts'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { isUnreachable } from '../db/database-errors.ts'
import { openSocketAddress, serverFolder, startServer, superuser } from '../db/server/embedded-server.ts'

/** The database of an installation, whether management runs beside it or not. */
export interface Reached {
  target: ConnectionTarget
  close(): Promise<void>
}

/** Reaches the database of an installation, and starts its server where management does not run. */
export async function reachDatabase({ environment, log }: Dependencies): Promise<Reached> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) return { target: databaseUrl, async close() {} }
  const folder = serverFolder(data)
  if (!existsSync(join(folder, 'data')))
    throw new Error(`there is no database in ${folder}: start Eyrie once, or set EYRIE_DATA or DATABASE_URL`)
  const { path, close } = await openSocketAddress(join(folder, 'data'))
  const target = { path, user: applicationName, database: applicationName }
  if (await answers(target)) return { target, close }
  await close()
  return startAlone({ environment, log })
}

/** Has the database to itself; it is made where there is none yet. Throws where management runs. */
export async function startAlone({ environment, log }: Dependencies): Promise<Reached> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) {
    await refuseOthers(databaseUrl)
    return { target: databaseUrl, async close() {} }
  }
  const server = await startServer(serverFolder(data), log)
  await createApplicationDatabase(server.target(superuser, 'postgres'))
  return { target: server.target(applicationName, applicationName), close: server.stop }
}

async function answers(target: ConnectionTarget): Promise<boolean> {
  const sql = connect(target)
  try {
    await sql`select 1`
    return true
  } catch (error) {
    if (isUnreachable(error)) return false
    throw error
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function refuseOthers(url: string): Promise<void> {
  const sql = connect(url)
  try {
    const [other] = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'eyrie-management' and pid <> pg_backend_pid()`
    if (other) throw new Error('management is running on this database: stop Eyrie first')
  } finally {
    await sql.end({ timeout: 1 })
  }
}
