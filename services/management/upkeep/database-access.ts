import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dependencies } from '@eyrie/kit'
import { applicationName, createApplicationDatabase } from '../db/application-database.ts'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { isUnreachable } from '../db/database-errors.ts'
import { openSocketAddress, serverFolder, startServer, superuser } from '../db/server/embedded-server.ts'

/** Access to the database of an installation. */
export interface DatabaseAccess {
  target: ConnectionTarget
  close(): Promise<void>
}

/** Connects to the database of an installation. Starts the database server if management is not running. */
export async function connectToInstallation({ environment, log }: Dependencies): Promise<DatabaseAccess> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) return { target: databaseUrl, async close() {} }
  const folder = serverFolder(data)
  if (!existsSync(join(folder, 'data')))
    throw new Error(`there is no database in ${folder}: start Eyrie once, or set EYRIE_DATA or DATABASE_URL`)
  const { path, close } = await openSocketAddress(join(folder, 'data'))
  const target = { path, user: applicationName, database: applicationName }
  if (await isReachable(target)) return { target, close }
  await close()
  return startExclusively({ environment, log })
}

/** Starts the database for exclusive use, and creates it if it does not exist. Throws if management is running. */
export async function startExclusively({ environment, log }: Dependencies): Promise<DatabaseAccess> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) {
    await assertNotRunning(databaseUrl)
    return { target: databaseUrl, async close() {} }
  }
  const server = await startServer(serverFolder(data), log)
  await createApplicationDatabase(server.target(superuser, 'postgres'))
  return { target: server.target(applicationName, applicationName), close: server.stop }
}

async function isReachable(target: ConnectionTarget): Promise<boolean> {
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

async function assertNotRunning(url: string): Promise<void> {
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
