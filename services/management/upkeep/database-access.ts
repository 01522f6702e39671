import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Dependencies } from '@eyrie/kit'
import { APPLICATION_NAME, createApplicationDatabase } from '../db/application-database.ts'
import { CLIENT_NAME, type ConnectionTarget, connect } from '../db/connection.ts'
import { isUnreachable } from '../db/database-errors.ts'
import {
  openSocketAddress,
  SUPERUSER,
  serverFolder,
  sharedSocketFolder,
  startServer,
} from '../db/server/embedded-server.ts'

/**
 * Access to the database of an installation for maintenance commands such as `eyrie backup`. The
 * database is external (`DATABASE_URL`), or on the embedded server. While the appliance is stopped,
 * the command itself runs the embedded server.
 */
export interface DatabaseAccess {
  target: ConnectionTarget
  /** Ends the access. Stops the embedded server if this program has started it. */
  close(): Promise<void>
}

/** Opens the database of an installation, which may be in use. */
export async function openDatabaseAccess(dependencies: Dependencies): Promise<DatabaseAccess> {
  const { data, databaseUrl } = dependencies.environment
  if (databaseUrl !== undefined) return accessExternalDatabase(databaseUrl)

  const folder = serverFolder(data)
  if (!existsSync(join(folder, 'data'))) {
    throw new Error(
      `there is no database in ${folder}: start Eyrie once, or set EYRIE_DATA or DATABASE_URL`,
    )
  }
  return (await findRunningServer(data)) ?? startOwnServer(dependencies)
}

/**
 * Opens the database of an installation for exclusive use. Throws an `Error` if the management
 * service uses the database.
 */
export async function openExclusiveAccess(dependencies: Dependencies): Promise<DatabaseAccess> {
  const { databaseUrl } = dependencies.environment
  // The start fails if the server is running already, because its folder is locked.
  if (databaseUrl === undefined) return startOwnServer(dependencies)
  await assertNotInUse(databaseUrl)
  return accessExternalDatabase(databaseUrl)
}

const accessExternalDatabase = (url: string): DatabaseAccess => ({
  target: url,
  async close() {},
})

/** Returns the embedded server that the appliance runs, or undefined if it is not running. */
async function findRunningServer(data: string): Promise<DatabaseAccess | undefined> {
  // The socket of the server is in its data directory, or in the shared folder if the server runs
  // as a user of its own.
  const socketFolders = [join(serverFolder(data), 'data'), sharedSocketFolder(data)]
  for (const socketFolder of socketFolders.filter(existsSync)) {
    const { path, close } = await openSocketAddress(socketFolder)
    const target = { path, user: APPLICATION_NAME, database: APPLICATION_NAME }
    if (await isReachable(target)) return { target, close }
    await close()
  }
  return undefined
}

/** Starts the embedded server, and creates the database if it does not exist. */
async function startOwnServer({ environment, log }: Dependencies): Promise<DatabaseAccess> {
  const server = await startServer(serverFolder(environment.data), log)
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

/** Throws an `Error` if the management service is connected to this database. */
async function assertNotInUse(url: string): Promise<void> {
  const sql = connect(url)
  try {
    const [otherClient] = await sql`
      select from pg_stat_activity
      where datname = current_database()
        and application_name = ${CLIENT_NAME}
        and pid <> pg_backend_pid() -- Not this connection, which has the same name.`
    if (otherClient)
      throw new Error('the management service is using this database: stop Eyrie first')
  } finally {
    await sql.end({ timeout: 1 })
  }
}
