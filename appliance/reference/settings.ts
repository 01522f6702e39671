import { settings } from '@eyrie/contract/settings'
import { z } from 'zod'
import type { Schema } from './schema.ts'
import { fieldTable } from './table.ts'

const { $defs } = z.toJSONSchema(settings, { io: 'input' })

/** What `eyrie.json` may hold. */
export const settingsPage = () =>
  [
    '# Settings',
    '`$EYRIE_DATA/eyrie.json`, read when a service starts. Every field may be left out. Environment variables: [running](../guide/running.md#variables).',
    fieldTable($defs!.Settings as Schema),
  ].join('\n\n')
