import { settings } from '@eyrie/contract/settings'
import { z } from 'zod'
import { renderFieldTable } from './field-table.ts'
import type { Schema } from './schema-type.ts'

const schema = z.toJSONSchema(settings, { io: 'input' }).$defs!.Settings as Schema

/** Renders the JSON Schema of `eyrie.json`, for editors and programs that write it. */
export function renderSettingsSchema(): string {
  const header = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'eyrie.json' }
  return `${JSON.stringify({ ...header, ...schema }, null, 2)}\n`
}

/** Renders the page of the settings in `eyrie.json`. */
export const renderSettingsPage = () =>
  [
    '# Settings',
    'Services read `$EYRIE_DATA/eyrie.json` when they start. All fields are optional. If the file is not valid, services do not start and name the invalid field. JSON Schema: [eyrie.schema.json](eyrie.schema.json). Environment variables: [running](../guide/running.md#variables).',
    renderFieldTable(schema),
  ].join('\n\n')
