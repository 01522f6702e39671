import { connect } from './connection.ts'
import type { ConnectionTarget } from './target.ts'

/** Whom everything is done as where who connects is above the row-level security. */
export const ordinaryRole = 'eyrie_management'

/** The role to take after connecting; none where who connects is an ordinary user. */
export async function roleFor(target: ConnectionTarget): Promise<string | undefined> {
  const sql = connect(target)
  try {
    const [user] = await sql<{ above: boolean }[]>`
      select rolsuper or rolbypassrls as above from pg_roles where rolname = current_user`
    if (!user?.above) return undefined
    await sql.begin(async once => {
      // Two managements that start at the same moment make it once.
      await once`select pg_advisory_xact_lock(hashtext(${ordinaryRole}))`
      const [there] = await once`select from pg_roles where rolname = ${ordinaryRole}`
      if (!there) await once`create role ${once(ordinaryRole)} nologin`
      const [{ name }] = await once<[{ name: string }]>`select current_database() as name`
      await once`grant ${once(ordinaryRole)} to current_user`
      await once`grant create, connect, temporary on database ${once(name)} to ${once(ordinaryRole)}`
      await once`grant usage, create on schema public to ${once(ordinaryRole)}`
    })
    return ordinaryRole
  } finally {
    await sql.end()
  }
}
