import type { ISql } from 'postgres'
import { v7 } from 'uuid'

/** What every installation has from the beginning. */
const roles = {
  superadmin: 'Superadmin',
  admin: 'Administrator',
  manager: 'Manager',
  viewer: 'Viewer',
}

/** Adds what is not there; leaves alone what is. */
export async function seed(sql: ISql): Promise<void> {
  await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'seed', true)`
  for (const [key, name] of Object.entries(roles))
    await sql`insert into role (role_id, role_key, role_name) values (${v7()}, ${key}, ${name}) on conflict (role_key) do nothing`
}
