import type { ISql } from 'postgres'
import { v7 } from 'uuid'

/** Display names of the roles by key. */
const ROLE_NAMES = {
  superadmin: 'Superadmin',
  admin: 'Administrator',
  manager: 'Manager',
  viewer: 'Viewer',
}

/** A kind of analysis. */
interface Usecase {
  name: string
  description: string
  /** Keys of the statistics that channels of the usecase have. */
  metaKeys: string[]
}

/** The built-in usecases by key. */
const USECASES: Record<string, Usecase> = {
  'line-crossing': {
    name: 'Line crossing',
    description: 'Counts objects that cross lines, by direction',
    metaKeys: ['up', 'down', 'total'],
  },
  occupancy: {
    name: 'Occupancy',
    description: 'Counts people in a zone, and how long they stay',
    metaKeys: ['occupancy', 'moving_average_count', 'dwell_time'],
  },
  'social-distancing': {
    name: 'Social distancing',
    description: 'Detects people who keep too little distance',
    metaKeys: ['violation', 'non_violation'],
  },
  ppe: {
    name: 'Protective equipment',
    description: 'Detects people without protective equipment',
    metaKeys: ['violation', 'non_violation'],
  },
  'fire-smoke': {
    name: 'Fire and smoke',
    description: 'Detects fire and smoke',
    metaKeys: ['fire', 'low_smoke', 'intermediate_smoke', 'high_smoke'],
  },
  collision: {
    name: 'Collision',
    description: 'Detects collisions and near misses',
    metaKeys: ['frame_collision', 'frame_near_miss', 'total_collision', 'total_near_miss'],
  },
}

/** Inserts the roles and usecases that every installation has. Existing rows remain unchanged. */
export async function seed(sql: ISql): Promise<void> {
  await sql`
    select
      set_config('eyrie.scope', 'all', true),
      set_config('eyrie.operation', 'seed', true)`

  for (const [key, name] of Object.entries(ROLE_NAMES)) {
    await sql`
      insert into role (role_id, role_key, role_name)
      values (${v7()}, ${key}, ${name})
      on conflict (role_key) do nothing`
  }

  for (const [key, { name, description, metaKeys }] of Object.entries(USECASES)) {
    await sql`
      insert into usecase (
        usecase_id, usecase_key, usecase_name, usecase_desc, usecase_component_key, usecase_meta_key
      )
      values (${v7()}, ${key}, ${name}, ${description}, ${key}, ${metaKeys})
      on conflict (usecase_key) do nothing`
  }
}
