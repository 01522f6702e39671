import { type ConnectionTarget, connect } from './connection.ts'

/**
 * The name of both the application's role and its database on the embedded server. The role is
 * unprivileged, so that row-level security applies to it.
 */
export const APPLICATION_NAME = 'eyrie'

/**
 * Creates the application's role and database unless they exist. `administration`
 * connects as a superuser.
 */
export async function createApplicationDatabase(administration: ConnectionTarget): Promise<void> {
  const sql = connect(administration)
  try {
    const [role] = await sql`select from pg_roles where rolname = ${APPLICATION_NAME}`
    if (!role) await sql`create role ${sql(APPLICATION_NAME)} login`
    const [database] = await sql`select from pg_database where datname = ${APPLICATION_NAME}`
    if (!database) {
      await sql`create database ${sql(APPLICATION_NAME)} owner ${sql(APPLICATION_NAME)}`
    }
  } finally {
    await sql.end()
  }
}
