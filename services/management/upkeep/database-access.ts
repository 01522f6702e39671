import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dependencies } from '@eyrie/kit'
import { APPLICATION_NAME, createApplicationDatabase } from '../db/application-database.ts'
import { type ConnectionTarget, connect } from '../db/connection.ts'
import { isUnreachable } from '../db/database-errors.ts'
import {
  openSocketAddress,
  SUPERUSER,
  serverFolder,
  sharedSocketFolder,
  startServer,
} from '../db/server/embedded-server.ts'

/**
 * Access to the database of an installation for maintenance commands such as `eyrie backup`. If the
 * appliance is not running, the command itself runs the embedded database server meanwhile.
 */
export interface DatabaseAccess {
  target: ConnectionTarget
  /** Stops the database server if this program started the server. */
  close(): Promise<void>
}

/** Returns the database of an installation. Starts the embedded server unless it is running. */
export async function connectToInstallation({
  environment,
  log,
}: Dependencies): Promise<DatabaseAccess> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) return { target: databaseUrl, async close() {} }

  const folder = serverFolder(data)
  if (!existsSync(join(folder, 'data'))) {
    throw new Error(
      `there is no database in ${folder}: start Eyrie once, or set EYRIE_DATA or DATABASE_URL`,
    )
  }

  // A running server has its socket in one of two folders.
  for (const socketFolder of [join(folder, 'data'), sharedSocketFolder(data)]) {
    const { path, close } = await openSocketAddress(socketFolder)
    const target = { path, user: APPLICATION_NAME, database: APPLICATION_NAME }
    if (await isReachable(target)) return { target, close }
    await close()
  }
  return connectExclusively({ environment, log })
}

/**
 * Returns the database of an installation for exclusive use. Throws an Error if the management
 * service uses the database. Without `DATABASE_URL`, starts the embedded server, and creates the
 * database if it does not exist.
 */
export async function connectExclusively({
  environment,
  log,
}: Dependencies): Promise<DatabaseAccess> {
  const { data, databaseUrl } = environment
  if (databaseUrl !== undefined) {
    await assertNotRunning(databaseUrl)
    return { target: databaseUrl, async close() {} }
  }

  const server = await startServer(serverFolder(data), log)
  try {
    await createApplicationDatabase(server.target(SUPERUSER, 'postgres'))
  } catch (error) {
    await server.stop()
    throw error
  }
  return { target: server.target(APPLICATION_NAME, APPLICATION_NAME), close: server.stop }
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

/** Throws an Error if the management service is connected to this database. */
async function assertNotRunning(url: string): Promise<void> {
  const sql = connect(url)
  try {
    const [other] = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'eyrie-management' and pid <> pg_backend_pid()`
    if (other) throw new Error('the management service is using this database: stop Eyrie first')
  } finally {
    await sql.end({ timeout: 1 })
  }
}
