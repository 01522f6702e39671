import { type ConnectionTarget, connect } from './connection.ts'

/** Name of management's role and database on the embedded server. The role is unprivileged, so that policies apply. */
export const applicationName = 'eyrie'

/** Creates the role and the database unless they exist. `administration` connects as a superuser. */
export async function createApplicationDatabase(administration: ConnectionTarget): Promise<void> {
  const sql = connect(administration)
  try {
    const [role] = await sql`select from pg_roles where rolname = ${applicationName}`
    if (!role) await sql`create role ${sql(applicationName)} login`
    const [database] = await sql`select from pg_database where datname = ${applicationName}`
    if (!database) await sql`create database ${sql(applicationName)} owner ${sql(applicationName)}`
  } finally {
    await sql.end()
  }
}
