import type { ISql } from 'postgres'
import { v7 } from 'uuid'

const roles = {
  superadmin: 'Superadmin',
  admin: 'Administrator',
  manager: 'Manager',
  viewer: 'Viewer',
}

const usecases = {
  'line-crossing': [
    'Line crossing',
    'Counts objects that cross lines, by direction',
    ['up', 'down', 'total'],
  ],
  occupancy: [
    'Occupancy',
    'Counts people in a zone, and how long they stay',
    ['occupancy', 'moving_average_count', 'dwell_time'],
  ],
  'social-distancing': [
    'Social distancing',
    'Detects people who keep too little distance',
    ['violation', 'non_violation'],
  ],
  ppe: [
    'Protective equipment',
    'Detects people without protective equipment',
    ['violation', 'non_violation'],
  ],
  'fire-smoke': [
    'Fire and smoke',
    'Detects fire and smoke',
    ['fire', 'low_smoke', 'intermediate_smoke', 'high_smoke'],
  ],
  collision: [
    'Collision',
    'Detects collisions and near misses',
    ['frame_collision', 'frame_near_miss', 'total_collision', 'total_near_miss'],
  ],
} satisfies Record<string, [name: string, description: string, metaKeys: string[]]>

/** Inserts the roles and usecases of every installation; leaves existing ones unchanged. */
export async function seed(sql: ISql): Promise<void> {
  await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'seed', true)`
  for (const [key, name] of Object.entries(roles))
    await sql`insert into role (role_id, role_key, role_name) values (${v7()}, ${key}, ${name}) on conflict (role_key) do nothing`
  for (const [key, [name, description, metaKeys]] of Object.entries(usecases))
    await sql`
      insert into usecase (usecase_id, usecase_key, usecase_name, usecase_desc, usecase_component_key, usecase_meta_key)
      values (${v7()}, ${key}, ${name}, ${description}, ${key}, ${metaKeys}) on conflict (usecase_key) do nothing`
}
