import { settings } from '@eyrie/contract/settings'
import { z } from 'zod'
import type { Schema } from './schema.ts'
import { fieldTable } from './table.ts'

const schema = z.toJSONSchema(settings, { io: 'input' }).$defs!.Settings as Schema

/** For editors and programs that write `eyrie.json`. */
export const settingsSchema = () =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'eyrie.json', ...schema }, null, 2)}\n`

/** What `eyrie.json` may hold. */
export const settingsPage = () =>
  [
    '# Settings',
    '`$EYRIE_DATA/eyrie.json`, read when a service starts. Every field may be left out; a file that is not valid is refused, with the place. Its JSON Schema: [eyrie.schema.json](eyrie.schema.json). Environment variables: [running](../guide/running.md#variables).',
    fieldTable(schema),
  ].join('\n\n')
