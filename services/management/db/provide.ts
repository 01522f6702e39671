import { connect } from './connection.ts'
import type { ConnectionTarget } from './target.ts'

/** The user and the database that management has on a server of its own: an ordinary user, so that rights hold. */
export const applicationName = 'eyrie'

/** Makes user and database where they are not there yet. `administration` is a superuser's. */
export async function provideDatabase(administration: ConnectionTarget): Promise<void> {
  const sql = connect(administration)
  try {
    const [user] = await sql`select from pg_roles where rolname = ${applicationName}`
    if (!user) await sql`create role ${sql(applicationName)} login`
    const [database] = await sql`select from pg_database where datname = ${applicationName}`
    if (!database) await sql`create database ${sql(applicationName)} owner ${sql(applicationName)}`
  } finally {
    await sql.end()
  }
}
