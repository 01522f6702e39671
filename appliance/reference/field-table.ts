import { describeType, renderCode, type Schema } from './schema-type.ts'

/** A field of an object. */
interface Field {
  /** For example `outer.inner`. */
  path: string
  schema: Schema
  required: boolean
}

/** A row of a table that describes values by their schemas. */
export interface SchemaRow {
  /** The cells before the description, such as the name of the value. */
  labels: string[]
  schema: Schema
  required: boolean
}

/** Fields nested deeper are omitted, because schemas may be recursive. */
const MAX_DEPTH = 6

/**
 * Renders a Markdown table of the fields of an object, from its JSON Schema. Nested fields are
 * named `outer.inner` and `list[].inner`.
 */
export function renderFieldTable(schema: Schema): string {
  const fields = collectFields(schema, '', MAX_DEPTH)
  if (fields.length === 0) return ''
  const rows = fields.map(({ path, ...field }) => ({ labels: [`\`${path}\``], ...field }))
  return renderSchemaTable(['Field'], rows)
}

/**
 * Renders a Markdown table with columns for the labels, the type, the default and the description.
 * Without any description, the last column is omitted.
 */
export function renderSchemaTable(labelHeads: string[], rows: SchemaRow[]): string {
  const hasMeanings = rows.some(({ schema }) => schema.description)
  const head = [...labelHeads, 'Value', 'Default', ...(hasMeanings ? ['Meaning'] : [])]
  const cells = rows.map(({ labels, schema, required }) => [
    ...labels,
    describeType(schema),
    renderDefault(schema, required),
    ...(hasMeanings ? [schema.description ?? ''] : []),
  ])
  return renderTable(head, cells)
}

/** Renders a Markdown table. */
export function renderTable(head: string[], rows: string[][]): string {
  const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const renderRow = (cells: string[]) => `| ${cells.map(escapeCell).join(' | ')} |`
  const separator = head.map(() => '---')
  return [head, separator, ...rows].map(renderRow).join('\n')
}

function renderDefault(schema: Schema, required: boolean): string {
  if (schema.default !== undefined) {
    const value = renderCode(schema.default)
    return schema.defaultFrom === 'model' ? `${value}, or the value on the model's card` : value
  }
  return required ? '*required*' : ''
}

/**
 * Returns the fields of an object and of its nested objects. `prefix` precedes their paths; `depth`
 * is the number of further levels.
 */
function collectFields(schema: Schema, prefix: string, depth: number): Field[] {
  const { properties = {}, required = [], additionalProperties } = findObjectSchema(schema) ?? {}
  const fields: Field[] = []
  for (const [name, fieldSchema] of Object.entries(properties)) {
    const path = `${prefix}${name}`
    fields.push({ path, schema: fieldSchema, required: required.includes(name) })
    fields.push(...collectNestedFields(fieldSchema, path, depth))
  }
  if (typeof additionalProperties === 'object') {
    fields.push(...collectNestedFields(additionalProperties, `${prefix}{key}`, depth))
  }
  return fields
}

/** Returns the fields of a value that is an object or a list of objects. */
function collectNestedFields(schema: Schema, path: string, depth: number): Field[] {
  if (depth === 0) return []
  if (schema.items) return collectNestedFields(schema.items, `${path}[]`, depth - 1)
  return findObjectSchema(schema) ? collectFields(schema, `${path}.`, depth - 1) : []
}

/**
 * Returns the object schema of a value, if the value can be an object. The objects of a union are
 * merged; a field is required if all of them require it.
 */
function findObjectSchema(schema: Schema): Schema | undefined {
  if (schema.properties || typeof schema.additionalProperties === 'object') return schema
  const objects = (schema.anyOf ?? schema.oneOf ?? []).flatMap(
    choice => findObjectSchema(choice) ?? [],
  )
  if (objects.length < 2) return objects[0]
  return {
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: (objects[0]!.required ?? []).filter(name =>
      objects.every(({ required }) => required?.includes(name)),
    ),
  }
}
