import { manifest } from '@eyrie/contract/plugin'
import { z } from 'zod'
import { renderFieldTable } from './field-table.ts'
import type { Schema } from './schema-type.ts'

const { PluginManifest, ...types } = z.toJSONSchema(manifest, { io: 'input' }).$defs as Record<
  string,
  Schema
>

/** Renders the page of `plugin.json`. */
export const renderManifestPage = () =>
  [
    '# Plugin manifest',
    'The fields of `plugin.json` in the folder of a [plugin](../../plugins/README.md#write-a-plugin). `./eyrie plugin generate` writes the schemas, and the events of the capabilities. How to begin: [your first element](../guide/first-element.md).',
    renderFieldTable(PluginManifest!),
    ...Object.entries(types).flatMap(([name, schema]) => [`### ${name}`, renderFieldTable(schema)]),
  ].join('\n\n')
